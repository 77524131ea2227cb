// SPDX-License-Identifier: Apache-2.0
// What rows with parameter servers have in common.
#include "tests/faults/server_setups.h"

#include <fmt/format.h>

#include <csignal>

namespace trireme::tests {

Outcome obey(Scene& scene, const TrainingSetup& setup, const Limits& limits) {
  const auto training = scene.start(setup);
  const auto obeyed = training->obeyed(0);
  require(obeyed.has_value(), fmt::format("no node reached '{}':\n{}", setup.failpoints, training->text()));
  const Moment fault = Scene::moment(*training, *obeyed);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, limits, outcome);
  return outcome;
}

Outcome kill_nodes(Scene& scene, const TrainingSetup& setup, const std::vector<int>& nodes, const Limits& limits) {
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  for (const int node : nodes) training->signal_node(node, SIGKILL);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, limits, outcome);
  return outcome;
}

}  // namespace trireme::tests
