// SPDX-License-Identifier: Apache-2.0
// What this machine does, from the kernel's counters: what is between two looks is a sample.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "trireme/observe/records/machine_sample.h"

namespace trireme::observe {

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
