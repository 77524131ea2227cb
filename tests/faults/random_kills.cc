// SPDX-License-Identifier: Apache-2.0
// Random nodes killed at random moments, and the worst that came of it.
#include "tests/faults/random_kills.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <thread>

namespace trireme::tests {

Outcome kill_at_random(Scene& scene, TrainingSetup setup, const RandomKills& plan, const Limits& limits) {
  setup.failpoints = kPace;
  std::mt19937 random(scene.seed());
  const auto training = scene.begin(setup);
  Outcome worst;
  for (int i = 0; i < plan.kills; ++i) {
    const int any = std::uniform_int_distribution(0, setup.nodes - 1)(random);
    std::this_thread::sleep_for(std::uniform_int_distribution<std::int64_t>(0, plan.longest_pause.count())(random) *
                                std::chrono::milliseconds(1));
    const int node = plan.victim ? plan.victim(*training) : any;
    require(training->node(node).has_value(), fmt::format("node {} does not run before kill {}:\n{}", node, i + 1, training->text()));
    const Moment fault = Scene::moment(*training);
    training->signal_node(node, SIGKILL);
    require(training->passes_generation(fault.generation + 1),
            fmt::format("not all were together again after kill {}:\n{}", i + 1, training->text()));
    Outcome one;
    Scene::measure(*training, fault, limits, one);
    worst.detected = std::max(worst.detected, one.detected);
    worst.recovered = std::max(worst.recovered, one.recovered);
    worst.lost_steps = std::max(worst.lost_steps, one.lost_steps);
    for (const std::string& problem : one.problems) worst.problems.push_back(fmt::format("kill {}: {}", i + 1, problem));
  }
  Outcome outcome = scene.judge(*training, setup, {});
  outcome.detected = worst.detected;
  outcome.recovered = worst.recovered;
  outcome.lost_steps = worst.lost_steps;
  outcome.problems.insert(outcome.problems.end(), worst.problems.begin(), worst.problems.end());
  return outcome;
}

}  // namespace trireme::tests
