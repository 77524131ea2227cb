// SPDX-License-Identifier: Apache-2.0
// The beginning of a training: by this process alone, by the coordinator that it becomes, or, in a process that something else has started
// as one of many, by a node.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/launch/startup_entry.h"
#include "trireme/run/setup/job_request.h"
#include "trireme/run/terminal/console.h"
#include "trireme/run/training/takeover.h"
#include "trireme/run/training/training_run.h"

namespace trireme::run {

class TrainingStart {
 public:
  // Chooses the launcher; throws what choose_launcher does.
  TrainingStart(NodesRequest nodes, const Console& console);

  // Of this process; 0: it trains alone, or is the coordinator.
  std::int64_t rank() const;
  // For ranks above 0: a node of the training that rank 0 starts with the same job. The exit code.
  int run_node(const JobRequest& job) const;

  // For rank 0: the training. The exit code.
  int run(const TrainingRequest& training, const std::atomic<int>& stop) const;
  // Instead: prints the commands that it would run.
  void show(const TrainingRequest& training) const;

 private:
  bool is_alone(const std::optional<Takeover>& takeover) const;
  ClusterRequest cluster_request(const TrainingRequest& training, const std::optional<Takeover>& takeover) const;

  NodesRequest nodes_;
  const Console& console_;
  StartupEntry startup_;
};

}  // namespace trireme::run
