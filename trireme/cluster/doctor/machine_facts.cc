// SPDX-License-Identifier: Apache-2.0
// CPU, cores, memory, disk and load of this machine, from /proc and system calls; to JSON and back.
#include "trireme/cluster/doctor/machine_facts.h"

#include <sched.h>
#include <sys/utsname.h>

#include <fstream>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/json.h"

namespace trireme::cluster {
namespace {

// The value behind the first line that begins with `key`, e.g. "MemTotal:".
std::string value_of(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t first = line.find_first_not_of(" \t:", key.size());
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

std::int64_t kilobytes_of(std::string_view key) {
  constexpr std::int64_t kKilo = 1024;
  return std::atoll(value_of("/proc/meminfo", key).c_str()) * kKilo;
}

std::string first_word_of(const char* file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

std::string best_extensions() {
  const std::string flags = " " + value_of("/proc/cpuinfo", "flags") + " ";
  const auto has = [&](std::string_view flag) { return flags.find(fmt::format(" {} ", flag)) != std::string::npos; };
  if (has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq")) return "avx512";
  if (has("avx2") && has("fma")) return "avx2";
  return "sse";
}

std::int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

MachineFacts this_machine(const std::filesystem::path& folder) {
  utsname names{};
  ::uname(&names);
  std::error_code fault;
  const auto space = std::filesystem::space(folder, fault);
  return {.cpu = value_of("/proc/cpuinfo", "model name"),
          .cores = usable_cores(),
          .memory = kilobytes_of("MemTotal"),
          .free_memory = kilobytes_of("MemAvailable"),
          .free_disk = fault ? 0 : static_cast<std::int64_t>(space.available),
          .load = std::atof(first_word_of("/proc/loadavg").c_str()),
          .vector_extensions = best_extensions(),
          .congestion_control = first_word_of("/proc/sys/net/ipv4/tcp_congestion_control"),
          .kernel = names.release};
}

std::string to_json(const MachineFacts& f) {
  const Json json = {{"cpu", f.cpu},
                     {"cores", f.cores},
                     {"memory", f.memory},
                     {"free_memory", f.free_memory},
                     {"free_disk", f.free_disk},
                     {"load", f.load},
                     {"vector_extensions", f.vector_extensions},
                     {"congestion_control", f.congestion_control},
                     {"kernel", f.kernel}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

MachineFacts facts_from_json(std::string_view text) {
  try {
    const auto json = parse_json(text);
    return {.cpu = json.at("cpu"),
            .cores = json.at("cores"),
            .memory = json.at("memory"),
            .free_memory = json.at("free_memory"),
            .free_disk = json.at("free_disk"),
            .load = json.at("load"),
            .vector_extensions = json.at("vector_extensions"),
            .congestion_control = json.at("congestion_control"),
            .kernel = json.at("kernel")};
  } catch (const Json::exception& fault) {  // a foreign exception becomes an Error
    throw Error{data_loss, "facts about a machine that can't be read: {}", fault.what()};
  }
}

}  // namespace trireme::cluster
