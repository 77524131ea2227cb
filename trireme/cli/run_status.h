// SPDX-License-Identifier: Apache-2.0
// Where a run stands, as its directory says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/train/checkpoint/run_directory.h"

namespace trireme::cli {

struct SwitchStatus {
  std::int64_t step = 0;
  std::string from, to, why;
  double seconds = 0;
};

struct RunStatus {
  bool is_running = false;  // a process has it
  std::string ending;       // of the last process: "completed", "interrupted"; empty: it is running, or died without a word
  std::string job, model, data;
  std::string plan;      // "allreduce; ps:async at 6400 samples"; empty: one process
  std::string strategy;  // now
  std::string duties;    // of its nodes: "1 server and 4 workers"
  std::int64_t generation = 0;
  std::vector<std::string> hosts;  // of the nodes, in order of ranks
  std::vector<std::string> lost;   // "node 3 on lab2 after step 40: killed by SIGKILL", in order
  std::int64_t step = 0, epoch = 0, epochs = 0;
  std::int64_t samples_seen = 0, samples_total = 0;
  double samples_per_second = 0;  // over the last steps
  double loss = 0;                // of the last step
  double accuracy = -1;           // last measured on validation or test samples; -1: not yet
  std::vector<SwitchStatus> switches;
};

RunStatus status_of(const train::RunDirectory& run);
std::string text_of(const RunStatus& status);
std::string json_of(const RunStatus& status);

}  // namespace trireme::cli
