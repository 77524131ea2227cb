// SPDX-License-Identifier: Apache-2.0
// F7: a whole machine is gone at once, link and all; no node may wait for TCP to notice.
#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

Outcome power_off(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .settings = kLong};
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  scene.hosts().power_off(1);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 6, .recovered = 10, .lost_steps = 1}, outcome);
  return outcome;
}

}  // namespace

Rows f07_kill_host() {
  return {{.id = "F7.power_off",
           .fault = "one of three hosts loses power: link down, all its processes gone",
           .run = power_off,
           .is_brief = true}};
}

}  // namespace trireme::tests::rows
