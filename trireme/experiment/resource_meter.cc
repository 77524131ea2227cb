// SPDX-License-Identifier: Apache-2.0
// Memory and network from /proc, processor time from the system's account of ended children.
#include "trireme/experiment/resource_meter.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"

namespace trireme::experiment {
namespace {

// Empty if the process is gone meanwhile, or not ours to look at.
std::string read_or_empty(const std::filesystem::path& path) {
  try {
    return read_file(path);
  } catch (const Error&) {  // the process is gone, which is no fault of the measurement
    return {};
  }
}

// Of lines like "Pss:    1234 kB", in bytes.
std::optional<double> kibibytes_of(const std::string& text, const std::string& name) {
  const auto at = text.find("\n" + name + ":");
  if (at == std::string::npos) return std::nullopt;
  return 1024 * std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

double children_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What was received, and on real links what was sent; on the loopback that would be the same bytes again.
double network_bytes() {
  std::istringstream lines(read_or_empty("/proc/net/dev"));
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream fields(line.substr(colon + 1));
    double received = 0;
    double skipped = 0;
    double sent = 0;
    fields >> received;
    for (int i = 0; i < 7; ++i) fields >> skipped;
    fields >> sent;
    const bool is_loopback = line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' ')) == "lo";
    sum += received + (is_loopback ? 0 : sent);
  }
  return sum;
}

}  // namespace

std::vector<pid_t> process_tree(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    // "pid (name) state parent ...", and the name may have parentheses of its own.
    const std::string stat = read_or_empty(entry.path() / "stat");
    const auto end = stat.rfind(')');
    if (end == std::string::npos || stat.size() < end + 5) continue;
    children.emplace(static_cast<pid_t>(std::strtol(stat.c_str() + end + 4, nullptr, 10)), static_cast<pid_t>(std::stol(name)));
  }
  std::vector<pid_t> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto [begin, end] = children.equal_range(tree[i]);
    for (auto child = begin; child != end; ++child) tree.push_back(child->second);
  }
  return tree;
}

ResourceMeter::ResourceMeter(const Clock& clock)
    : clock_(clock),
      start_(clock.now()),
      cpu_start_(children_cpu()),
      network_start_(network_bytes()),
      window_bytes_(network_start_),
      window_start_(start_) {}

void ResourceMeter::sample_memory(pid_t child) {
  double memory = 0;
  for (const pid_t process : process_tree(child)) {
    const std::filesystem::path folder = std::filesystem::path("/proc") / std::to_string(process);
    if (const auto share = kibibytes_of(read_or_empty(folder / "smaps_rollup"), "Pss")) {
      memory += *share;
    } else if (const auto own = kibibytes_of(read_or_empty(folder / "status"), "RssAnon")) {
      memory += *own;
      use_.has_shared_pages = false;
    }
  }
  if (memory == 0) return;  // it has just ended
  memory_sum_ += memory;
  use_.memory_most = std::max(use_.memory_most, memory);
  ++use_.samples;
}

void ResourceMeter::sample_network() {
  const Seconds now = clock_.now();
  const double elapsed = (now - window_start_).count();
  if (elapsed < 1) return;
  const double bytes = network_bytes();
  use_.network_most = std::max(use_.network_most, (bytes - window_bytes_) / elapsed);
  window_bytes_ = bytes;
  window_start_ = now;
}

ResourceUse ResourceMeter::finish() {
  use_.seconds = std::max((clock_.now() - start_).count(), 1e-9);
  use_.cpu_seconds = children_cpu() - cpu_start_;
  use_.cpu_share = use_.cpu_seconds / use_.seconds / static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  use_.memory_mean = use_.samples == 0 ? 0 : memory_sum_ / static_cast<double>(use_.samples);
  use_.network_mean = (network_bytes() - network_start_) / use_.seconds;
  use_.network_most = std::max(use_.network_most, use_.network_mean);
  return use_;
}

std::string to_json(const ResourceUse& use) {
  const Json json{{"seconds", use.seconds},
                  {"cpu_seconds", use.cpu_seconds},
                  {"cpu_share", use.cpu_share},
                  {"memory_most_bytes", use.memory_most},
                  {"memory_mean_bytes", use.memory_mean},
                  {"memory_is", use.has_shared_pages ? "PSS" : "private"},
                  {"network_most_bytes_per_second", use.network_most},
                  {"network_mean_bytes_per_second", use.network_mean},
                  {"samples", use.samples}};
  return json.dump(2) + "\n";
}

ResourceUse resource_use_from_json(std::string_view text) {
  try {
    const auto json = parse_json(text);
    return {.seconds = json.at("seconds").get<double>(),
            .cpu_seconds = json.at("cpu_seconds").get<double>(),
            .cpu_share = json.at("cpu_share").get<double>(),
            .memory_most = json.at("memory_most_bytes").get<double>(),
            .memory_mean = json.at("memory_mean_bytes").get<double>(),
            .network_most = json.at("network_most_bytes_per_second").get<double>(),
            .network_mean = json.at("network_mean_bytes_per_second").get<double>(),
            .samples = json.at("samples").get<std::int64_t>(),
            .has_shared_pages = json.at("memory_is").get<std::string>() == "PSS"};
  } catch (const Json::exception& error) {  // a foreign exception becomes an Error
    throw Error{data_loss, "these are no resources of a run: {}", error.what()};
  }
}

}  // namespace trireme::experiment
