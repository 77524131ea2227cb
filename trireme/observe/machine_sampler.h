// SPDX-License-Identifier: Apache-2.0
// What this machine does, from the kernel's counters: what is between two looks is a sample.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace trireme::observe {

// Over a window. What the machine does not tell is not there.
struct MachineSample {
  std::int64_t cores = 0;
  double cpu_user = 0;  // shares of all cores, which add up to 1
  double cpu_system = 0;
  double cpu_wait = 0;  // for disks, or taken by other guests of the same hardware
  double cpu_idle = 1;
  double load = 0;                // mean number of threads that ran or wanted to, over a minute
  std::int64_t memory_bytes = 0;  // in use: what could not be had without swapping
  std::int64_t memory_total_bytes = 0;
  std::int64_t network_in_bytes = 0;  // over all interfaces but loopback
  std::int64_t network_out_bytes = 0;
  std::int64_t loopback_bytes = 0;  // counted once
  std::int64_t disk_read_bytes = 0;
  std::int64_t disk_write_bytes = 0;
  std::optional<double> temperature;    // degrees Celsius, of the hottest sensor
  std::optional<double> frequency_mhz;  // mean over cores
  std::optional<double> energy_joules;  // of the processor packages
};

class MachineSampler {
 public:
  // `root` has proc and sys; another one is for tests.
  explicit MachineSampler(std::filesystem::path root = "/");
  MachineSample look();  // since the last look, or the construction

 private:
  // Since the machine started.
  struct Counters {
    std::int64_t user = 0, system = 0, wait = 0, idle = 0;  // ticks
    std::int64_t network_in = 0, network_out = 0, loopback = 0;
    std::int64_t disk_read = 0, disk_write = 0;
    std::optional<double> energy;
  };
  Counters count() const;
  void count_network(Counters& counters) const;
  void count_disks(Counters& counters) const;
  std::optional<double> energy() const;

  std::filesystem::path root_;
  Counters last_;
};

// Of this process.
struct ProcessSample {
  double cpu_user_seconds = 0;  // since the last look
  double cpu_system_seconds = 0;
  std::int64_t memory_bytes = 0;  // resident
};

class ProcessSampler {
 public:
  ProcessSampler() { look(); }
  ProcessSample look();

 private:
  double user_ = 0, system_ = 0;
};

}  // namespace trireme::observe
