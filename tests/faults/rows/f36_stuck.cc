// SPDX-License-Identifier: Apache-2.0
// F36: a worker lives but hangs in a read of its data. The others go on without it; with the limits that users have.
#include <fmt/format.h>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

// Longer than the row: it never comes back.
Outcome hang_in_read(Scene& scene, const std::vector<std::string>& settings) {
  const TrainingSetup setup{.settings = settings, .failpoints = "data.read@1:3000:sleep=3600"};
  const auto training = scene.start(setup);
  const auto hung = training->obeyed(0);
  require(hung.has_value(), "node 1 did not come to the read:\n" + training->text());
  const Moment fault = Scene::moment(*training, *hung);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 45, .recovered = 90, .lost_steps = 1}, outcome);
  const std::string text = training->text();
  if (text.find("rank 1 on") == std::string::npos || text.find("reading data") == std::string::npos)
    outcome.problems.emplace_back("the one that hangs was not named");
  if (text.find("misses") != std::string::npos) outcome.problems.emplace_back("an innocent was suspected");
  return outcome;
}

}  // namespace

Rows f36_stuck() {
  return {{.id = "F36.read",
           .fault = "a read of worker 1 hangs for an hour",
           .run = [](Scene& scene) { return hang_in_read(scene, {}); },
           .limit = seconds(300)},
          {.id = "F36.read_ring",
           .fault = "the same with the ring, where neighbours wait for neighbours",
           .run = [](Scene& scene) { return hang_in_read(scene, {"strategy.algorithm=ring"}); },
           .limit = seconds(300)}};
}

}  // namespace trireme::tests::rows
