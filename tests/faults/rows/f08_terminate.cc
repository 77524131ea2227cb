// SPDX-License-Identifier: Apache-2.0
// F8: SIGTERM, SIGINT and SIGUSR1 to the launcher or a worker, as preemption and Ctrl-C send them.
#include <fmt/format.h>

#include <csignal>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

// A checkpoint within ten seconds, the signal's exit code, nothing left; the rest has the undisturbed run's bits.
Outcome signal_launcher(Scene& scene, int signal) {
  const TrainingSetup setup{};
  const auto training = scene.begin(setup);
  const double begin = wall_time();
  ::kill(training->pid(), signal);
  const auto code = training->wait(seconds(30));
  const double took = wall_time() - begin;
  Outcome outcome;
  Scene::check_invariants(
      *training, {.run = training->run(), .exit_code = code, .expected_exit = 128 + signal, .left_behind = training->left_behind()},
      outcome);
  if (took > 10) outcome.problems.push_back(fmt::format("it took {:.1f} s", took));
  const Standing stopped = training->standing();
  if (stopped.committed != stopped.step)
    outcome.problems.push_back(fmt::format("step {} was done, the checkpoint is of step {}", stopped.step, stopped.committed));
  TrainingSetup rest = setup;
  rest.resume = training->run();
  const auto second = scene.start(rest);
  Outcome resumed = scene.judge(*second, setup, {.model = Expectation::Model::exact});
  resumed.problems.insert(resumed.problems.begin(), outcome.problems.begin(), outcome.problems.end());
  resumed.result += fmt::format(", left after {:.1f} s", took);
  resumed.lost_steps = stopped.step - stopped.committed;
  return resumed;
}

Outcome signal_worker(Scene& scene) {
  const TrainingSetup setup{};
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  training->signal_node(1, SIGTERM);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 0, .recovered = 10, .lost_steps = 1}, outcome);
  return outcome;
}

FaultRow to_launcher(const std::string& id, const std::string& name, int signal) {
  return {.id = id,
          .fault = fmt::format("{} to the launcher, then --resume", name),
          .run = [=](Scene& scene) { return signal_launcher(scene, signal); },
          .is_brief = signal == SIGTERM};
}

}  // namespace

Rows f08_terminate() {
  return {to_launcher("F8.SIGTERM", "SIGTERM", SIGTERM),
          to_launcher("F8.SIGINT", "SIGINT", SIGINT),
          to_launcher("F8.SIGUSR1", "SIGUSR1", SIGUSR1),
          {.id = "F8.worker", .fault = "SIGTERM to a worker", .run = signal_worker}};
}

}  // namespace trireme::tests::rows
