// SPDX-License-Identifier: Apache-2.0
// Machines that the user adds to the cluster's file while a job runs: found, and given the program, beside the training.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::run {

class NewMachines {
 public:
  struct Options {
    std::filesystem::path file;                           // looked at every other second
    std::function<std::vector<cluster::Machine>()> read;  // what stands in it now
    cluster::LaunchOptions launch;                        // how the program gets to them
    std::vector<cluster::NodePlan> known;                 // nodes that there are already
    std::int64_t threads = 0;                             // of each machine; 0: all
    std::function<void(const std::string& line)> say;     // what a person should read; from a thread of its own
  };
  explicit NewMachines(Options options);

  // Plans for nodes of machines that have become ready since the last call; their names follow on those of the known ones.
  std::vector<cluster::NodePlan> take();

 private:
  void watch(const std::stop_token& stop);
  void look();
  void welcome(const std::vector<cluster::Machine>& machines);

  Options options_;
  std::filesystem::file_time_type seen_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<cluster::NodePlan> ready_;
  std::jthread thread_;  // last, so that it ends first
};

}  // namespace trireme::run
