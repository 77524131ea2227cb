// SPDX-License-Identifier: Apache-2.0
// Exits of nodes' processes, from the launch's threads to the conductor's.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "trireme/cluster/launch/launch.h"
#include "trireme/train/conductor/job_events.h"

namespace trireme::run {

class ExitQueue {
 public:
  void add(const cluster::NodeExit& exit) {
    const std::lock_guard lock(mutex_);
    exits_.push_back({.node = exit.node, .how = exit.words, .by_itself = exit.by_itself, .out_of_memory = exit.out_of_memory});
  }
  std::vector<train::NodeExit> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(exits_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<train::NodeExit> exits_;
};

}  // namespace trireme::run
