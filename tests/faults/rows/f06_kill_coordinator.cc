// SPDX-License-Identifier: Apache-2.0
// F6: `trireme train` dies by SIGKILL; its nodes wait, and `trireme train --resume` takes them over.
#include <fmt/format.h>

#include <csignal>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

// Starts the second coordinator as soon as the first is gone. No node was lost, so the model has the undisturbed run's bits.
Outcome take_over(Scene& scene, const TrainingSetup& setup, Training& first, double killed) {
  require(first.wait(seconds(30)) == -SIGKILL, "the coordinator was not killed:\n" + first.text());
  const Moment fault = Scene::moment(first, killed);
  TrainingSetup rest = setup;
  rest.failpoints = "";
  rest.resume = first.run();
  const auto second = scene.start(rest);
  Outcome outcome = scene.judge(*second, setup, {.model = Expectation::Model::exact});
  Scene::measure(*second, fault, {.recovered = 15, .lost_steps = 1}, outcome);
  outcome.detected.reset();
  return outcome;
}

Outcome kill_in_training(Scene& scene, bool on_hosts) {
  const TrainingSetup setup{.on_hosts = on_hosts};
  const auto training = scene.begin(setup);
  const double killed = wall_time();
  ::kill(training->pid(), SIGKILL);
  return take_over(scene, setup, *training, killed);
}

Outcome kill_at(Scene& scene, const std::string& place, int visit) {
  const TrainingSetup setup{.failpoints = fmt::format("{}@coordinator:{}:kill", place, visit)};
  const auto training = scene.start(setup);
  const auto killed = training->obeyed(0);
  require(killed.has_value(), fmt::format("the coordinator never came to {}:\n{}", place, training->text()));
  return take_over(scene, setup, *training, *killed);
}

FaultRow at_failpoint(const std::string& place, int visit, bool is_brief = false) {
  return {.id = "F6." + place,
          .fault = fmt::format("kill -9 the coordinator at {} ({}. time), then --resume", place, visit),
          .run = [=](Scene& scene) { return kill_at(scene, place, visit); },
          .is_brief = is_brief};
}

}  // namespace

Rows f06_kill_coordinator() {
  return {
      {.id = "F6.training",
       .fault = "kill -9 the coordinator in training, then --resume",
       .run = [](Scene& scene) { return kill_in_training(scene, false); },
       .is_brief = true},
      {.id = "F6.hosts", .fault = "the same with nodes on three hosts", .run = [](Scene& scene) { return kill_in_training(scene, true); }},
      at_failpoint("coord.after_log_before_reply", 1),
      at_failpoint("ckpt.after_rename_before_dirsync", 2)};
}

}  // namespace trireme::tests::rows
