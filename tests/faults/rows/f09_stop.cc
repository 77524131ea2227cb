// SPDX-License-Identifier: Apache-2.0
// F9: a worker is stopped and goes on later. Shorter than the limit of silence it is only slow; longer, it is lost and comes back.
#include <csignal>
#include <thread>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

void stop_node(const Training& training, int node, seconds time) {
  training.signal_node(node, SIGSTOP);
  std::this_thread::sleep_for(time);
  training.signal_node(node, SIGCONT);
}

Outcome shortly(Scene& scene) {
  const TrainingSetup setup{};
  const auto training = scene.begin(setup);
  stop_node(*training, 1, seconds(2));
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (training->standing().generation > 1) outcome.problems.emplace_back("a new generation began");
  return outcome;
}

// It wakes up into a job that has gone on without it: what it still sends is refused, and it comes back as any node.
Outcome long_enough_to_be_lost(Scene& scene, seconds time) {
  const TrainingSetup setup{.settings = kLong, .failpoints = kPace};
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  stop_node(*training, 1, time);
  require(training->passes_generation(fault.generation + 1), "the node that woke up did not come back:\n" + training->text());
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 6, .recovered = 10, .lost_steps = 1}, outcome);
  if (outcome.detected && *outcome.detected < 4) outcome.problems.emplace_back("declared lost too early");
  return outcome;
}

}  // namespace

Rows f09_stop() {
  return {{.id = "F9.stop_2s", .fault = "SIGSTOP a worker for 2 s", .run = shortly, .is_brief = true},
          {.id = "F9.stop_8s",
           .fault = "SIGSTOP a worker for 8 s; it comes back",
           .run = [](Scene& scene) { return long_enough_to_be_lost(scene, seconds(8)); },
           .is_brief = true},
          {.id = "F9.stop_30s", .fault = "SIGSTOP a worker for 30 s; it comes back", .run = [](Scene& scene) {
             return long_enough_to_be_lost(scene, seconds(30));
           }}};
}

}  // namespace trireme::tests::rows
