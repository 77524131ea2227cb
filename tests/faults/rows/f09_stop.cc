// SPDX-License-Identifier: Apache-2.0
// F9: a worker is stopped and goes on later. Shorter than the limit of silence it is only slow; longer, it is lost and comes back.
#include <csignal>
#include <thread>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::milliseconds;

Outcome stop_2s(Scene& scene) {
  const TrainingSetup setup{};
  const auto training = scene.start(setup);
  require(training->reaches_step(30), "the training did not begin: " + training->text());
  training->signal_node(1, SIGSTOP);
  std::this_thread::sleep_for(milliseconds(2000));
  training->signal_node(1, SIGCONT);
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (training->standing().generation > 1) outcome.problems.push_back("a new generation began");
  return outcome;
}

Outcome stop_8s(Scene& scene) {
  const TrainingSetup setup{};
  const auto training = scene.start(setup);
  require(training->reaches_step(30), "the training did not begin: " + training->text());
  const Moment fault = scene.moment(*training);
  training->signal_node(1, SIGSTOP);
  std::this_thread::sleep_for(milliseconds(8000));
  training->signal_node(1, SIGCONT);
  Outcome outcome = scene.judge(*training, setup, {});
  scene.measure(*training, fault, {.detected = 6, .recovered = 10, .lost_steps = 1}, outcome);
  return outcome;
}

}  // namespace

Rows f09_stop() {
  return {{.id = "F9.stop_2s", .fault = "SIGSTOP a worker for 2 s", .run = stop_2s, .is_brief = true},
          {.id = "F9.stop_8s", .fault = "SIGSTOP a worker for 8 s", .run = stop_8s}};
}

}  // namespace trireme::tests::rows
