// SPDX-License-Identifier: Apache-2.0
// Trainings with parameter servers, for rows of the fault table.
#pragma once

#include <string>
#include <vector>

#include "tests/faults/scene.h"

namespace trireme::tests {

struct ServerPlan {
  int nodes = 3;  // the first ones are servers
  int servers = 1;
  std::string mode = "async";
  std::vector<std::string> more = {};  // settings
};

inline TrainingSetup with_servers(const ServerPlan& plan) {
  TrainingSetup setup{.nodes = plan.nodes,
                      .settings = {"strategy.name=\"ps\"", "strategy.mode=\"" + plan.mode + "\"",
                                   "strategy.servers=" + std::to_string(plan.servers), "strategy.min_shard_bytes=4096"}};
  setup.settings.insert(setup.settings.end(), plan.more.begin(), plan.more.end());
  return setup;
}

// Of a server that is lost its parameters are those of the last checkpoint, so the work since then is done again.
inline constexpr Limits kServerLost{.detected = 1, .recovered = 10};
inline constexpr Limits kWorkerLost{.detected = 1, .recovered = 10, .lost_steps = 1};

// When the first of the orders is obeyed, the training goes on and ends well.
Outcome obey(Scene& scene, const TrainingSetup& setup, const Limits& limits);
// Kills these nodes at one moment and waits for the end.
Outcome kill_nodes(Scene& scene, const TrainingSetup& setup, const std::vector<int>& nodes, const Limits& limits);

}  // namespace trireme::tests
