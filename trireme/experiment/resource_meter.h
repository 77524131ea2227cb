// SPDX-License-Identifier: Apache-2.0
// What a child process and all its descendants use of this machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::experiment {

struct ResourceUse {
  double seconds = 0;      // from start to end of the child
  double cpu_seconds = 0;  // of all its processes, those that ended before it included
  double cpu_share = 0;    // of all cores of this machine, mean
  double memory_most = 0;  // bytes, sum over its processes; pages they share count once
  double memory_mean = 0;
  double network_most = 0;  // bytes per second of this machine, in the busiest second; loopback traffic counts once
  double network_mean = 0;
  std::int64_t samples = 0;
  bool has_shared_pages = true;  // false: the system did not let us see them, and only private memory is counted
};

std::string to_json(const ResourceUse& use);
ResourceUse resource_use_from_json(std::string_view text);  // data_loss if it is none

// Made before the child is started, sampled while it runs, asked when it has been waited for. At a time only one child may be metered in
// a process: the processor time of ended children is known only for all of them together.
class ResourceMeter {
 public:
  explicit ResourceMeter(const Clock& clock);

  // Walks over all pages of all processes: too dear to be done many times a second for hours.
  void sample_memory(pid_t child);
  void sample_network();
  ResourceUse finish();

 private:
  const Clock& clock_;
  Seconds start_;
  double cpu_start_;
  double memory_sum_ = 0;
  double network_start_;
  double window_bytes_;  // counter at the beginning of the second that is being looked at
  Seconds window_start_;
  ResourceUse use_;
};

// A process and its descendants, as far as they are alive.
std::vector<pid_t> process_tree(pid_t root);

}  // namespace trireme::experiment
