// SPDX-License-Identifier: Apache-2.0
// /proc/stat, meminfo, net/dev, diskstats, loadavg; thermal zones, cpufreq and powercap of /sys.
#include "trireme/observe/machine_sampler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace trireme::observe {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kSector = 512;  // diskstats' unit, whatever the disk's is

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<double> read_number(const fs::path& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// Calls use(path) for every entry of a folder whose name begins so; none if there is no such folder.
template <class Use>
void for_entries(const fs::path& folder, std::string_view prefix, const Use& use) {
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
    if (entry.path().filename().string().starts_with(prefix)) use(entry.path());
}

// Physical ones: others are made of them and would count twice.
bool is_disk(const std::string& name, const fs::path& root) {
  for (const std::string_view prefix : {"loop", "ram", "dm-", "md", "zram", "sr"})
    if (name.starts_with(prefix)) return false;
  std::error_code missing;
  return fs::exists(root / "sys/block" / name, missing);  // partitions are not there
}

std::optional<double> hottest(const fs::path& root) {
  std::optional<double> most;
  for_entries(root / "sys/class/thermal", "thermal_zone", [&](const fs::path& zone) {
    const auto millidegrees = read_number(zone / "temp");
    if (millidegrees) most = std::max(most.value_or(-273), *millidegrees / 1000);
  });
  return most;
}

std::optional<double> mean_frequency(const fs::path& root) {
  double sum = 0;
  int count = 0;
  for_entries(root / "sys/devices/system/cpu", "cpu", [&](const fs::path& cpu) {
    const auto kilohertz = read_number(cpu / "cpufreq/scaling_cur_freq");
    if (!kilohertz) return;
    sum += *kilohertz / 1000;
    ++count;
  });
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

// A line of /proc/meminfo, in bytes.
std::int64_t memory(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + ":");
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + name.size() + 1)) * 1024;
}

std::int64_t count_cores(const fs::path& root) {
  std::istringstream lines(read(root / "proc/stat"));
  std::int64_t cores = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("cpu") && line.size() > 3 && line[3] != ' ') ++cores;
  return cores;
}

}  // namespace

MachineSampler::MachineSampler(fs::path root) : root_(std::move(root)), last_(count()) {}

MachineSampler::Counters MachineSampler::count() const {
  Counters counters;
  std::ifstream file(root_ / "proc/stat");
  std::string name;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
  file >> name >> user >> nice >> system >> idle >> wait >> interrupts >> soft_interrupts >> stolen;
  counters.user = user + nice;
  counters.system = system + interrupts + soft_interrupts;
  counters.wait = wait + stolen;
  counters.idle = idle;
  count_network(counters);
  count_disks(counters);
  counters.energy = energy();
  return counters;
}

void MachineSampler::count_network(Counters& counters) const {
  std::istringstream lines(read(root_ / "proc/net/dev"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    name.erase(0, name.find_first_not_of(' '));
    std::istringstream numbers(line.substr(colon + 1));
    std::int64_t in = 0, out = 0, skipped = 0;
    numbers >> in;
    for (int i = 0; i < 7; ++i) numbers >> skipped;
    numbers >> out;
    if (name == "lo") {
      counters.loopback += in;
    } else {
      counters.network_in += in;
      counters.network_out += out;
    }
  }
}

void MachineSampler::count_disks(Counters& counters) const {
  std::istringstream lines(read(root_ / "proc/diskstats"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::int64_t major = 0, minor = 0, skipped = 0, sectors_read = 0, sectors_written = 0;
    std::string name;
    words >> major >> minor >> name >> skipped >> skipped >> sectors_read >> skipped >> skipped >> skipped >> sectors_written;
    if (!words || !is_disk(name, root_)) continue;
    counters.disk_read += sectors_read * kSector;
    counters.disk_write += sectors_written * kSector;
  }
}

// Only root may read it on most systems.
std::optional<double> MachineSampler::energy() const {
  std::optional<double> joules;
  for_entries(root_ / "sys/class/powercap", "intel-rapl:", [&](const fs::path& zone) {
    // "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it.
    if (std::ranges::count(zone.filename().string(), ':') != 1) return;
    if (const auto microjoules = read_number(zone / "energy_uj")) joules = joules.value_or(0) + *microjoules / 1e6;
  });
  return joules;
}

MachineSample MachineSampler::look() {
  const Counters now = count();
  const Counters before = std::exchange(last_, now);
  const auto ticks = static_cast<double>(
      std::max<std::int64_t>(1, now.user + now.system + now.wait + now.idle - before.user - before.system - before.wait - before.idle));
  const std::string memory_text = read(root_ / "proc/meminfo");
  MachineSample sample{.cores = count_cores(root_),
                       .cpu_user = static_cast<double>(now.user - before.user) / ticks,
                       .cpu_system = static_cast<double>(now.system - before.system) / ticks,
                       .cpu_wait = static_cast<double>(now.wait - before.wait) / ticks,
                       .memory_bytes = memory(memory_text, "MemTotal") - memory(memory_text, "MemAvailable"),
                       .memory_total_bytes = memory(memory_text, "MemTotal"),
                       // An interface or a disk that went away takes its counts with it.
                       .network_in_bytes = std::max<std::int64_t>(0, now.network_in - before.network_in),
                       .network_out_bytes = std::max<std::int64_t>(0, now.network_out - before.network_out),
                       .loopback_bytes = std::max<std::int64_t>(0, now.loopback - before.loopback),
                       .disk_read_bytes = std::max<std::int64_t>(0, now.disk_read - before.disk_read),
                       .disk_write_bytes = std::max<std::int64_t>(0, now.disk_write - before.disk_write),
                       .load = read_number(root_ / "proc/loadavg").value_or(0),
                       .temperature = hottest(root_),
                       .frequency_mhz = mean_frequency(root_)};
  sample.cpu_idle = std::max(0.0, 1 - sample.cpu_user - sample.cpu_system - sample.cpu_wait);
  // The counter begins anew now and then; that window has no value.
  if (now.energy && before.energy && *now.energy >= *before.energy) sample.energy_joules = *now.energy - *before.energy;
  return sample;
}

ProcessSample ProcessSampler::look() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  const double user = seconds(used.ru_utime);
  const double system = seconds(used.ru_stime);
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return {.cpu_user_seconds = user - std::exchange(user_, user),
          .cpu_system_seconds = system - std::exchange(system_, system),
          .memory_bytes = resident * ::sysconf(_SC_PAGESIZE)};
}

}  // namespace trireme::observe
