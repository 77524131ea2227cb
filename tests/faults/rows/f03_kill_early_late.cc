// SPDX-License-Identifier: Apache-2.0
// F3: a worker dies while the nodes find each other, before the first step, while the last checkpoint is handed in, and while they leave.
#include <fmt/format.h>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

Outcome kill_at(Scene& scene, const std::string& order, const std::vector<std::string>& settings) {
  const TrainingSetup setup{.settings = settings, .failpoints = order};
  const auto training = scene.start(setup);
  const auto killed = training->obeyed(0);
  require(killed.has_value(), fmt::format("no node reached '{}':\n{}", order, training->text()));
  const Moment fault = Scene::moment(*training, *killed);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {}, outcome);
  return outcome;
}

FaultRow row(const std::string& name, const std::string& fault, const std::string& order, const std::vector<std::string>& settings = {}) {
  return {.id = "F3." + name, .fault = fault, .run = [=](Scene& scene) { return kill_at(scene, order, settings); }};
}

}  // namespace

Rows f03_kill_early_late() {
  return {row("rendezvous", "kill -9 a worker in the first rendezvous", "rdzv.before_join@2:1:kill"),
          row("first_step", "kill -9 a worker before the first step", "step.before_allreduce@2:1:kill"),
          row("last_checkpoint", "kill -9 the worker that hands in the last checkpoint", "ckpt.before_hand_in@0:1:kill",
              {"train.checkpoint_seconds=0"}),
          row("leaving", "kill -9 a worker while all leave", "shutdown.mid@1:1:kill")};
}

}  // namespace trireme::tests::rows
