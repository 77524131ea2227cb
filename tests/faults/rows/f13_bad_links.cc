// SPDX-License-Identifier: Apache-2.0
// F13: links that lose packets, slow ones, and long ones on which packets overtake each other (by a relay: this kernel has no netem).
#include <fmt/format.h>

#include <algorithm>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

constexpr int kTolerable = 5;  // percent; with more a false alarm is allowed, a wrong weight never

Outcome loss(Scene& scene, int percent) {
  const TrainingSetup setup{.on_hosts = true};
  const auto training = scene.begin(setup, 5);
  for (std::size_t i = 0; i < scene.hosts().size(); ++i) scene.hosts().lose(i, percent);
  const bool is_tolerable = percent <= kTolerable;
  training->wait(seconds(200));
  for (std::size_t i = 0; i < scene.hosts().size(); ++i) scene.hosts().heal(i);
  Outcome outcome = scene.judge(*training, setup, {.model = is_tolerable ? Expectation::Model::exact : Expectation::Model::accurate});
  const std::int64_t generations = training->standing().generation;
  if (is_tolerable && generations > 1) outcome.problems.emplace_back("a worker was declared lost");
  if (!is_tolerable) outcome.result += fmt::format(", {} generations", generations);
  return outcome;
}

// A checkpoint takes the link a second: one every half second would leave nothing for gradients.
Outcome slow(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .settings = {"train.epochs=12", "train.checkpoint_seconds=20"}};
  const auto training = scene.begin(setup, 5);
  for (std::size_t i = 0; i < scene.hosts().size(); ++i) scene.hosts().slow(i, "10mbit");
  training->wait(seconds(200));
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (training->standing().generation > 1) outcome.problems.emplace_back("a worker was declared lost");
  return outcome;
}

Outcome far_apart(Scene& scene, const PacketRelayOptions& how) {
  const TrainingSetup setup{.on_hosts = true, .settings = {"train.epochs=12"}};
  const auto training = scene.begin(setup, 5);
  for (std::size_t i = 0; i < scene.hosts().size(); ++i) scene.hosts().delay(i, how);
  const std::int64_t first = training->standing().step;
  const double start = wall_time();
  training->wait(seconds(200));
  const double step_seconds = (wall_time() - start) / static_cast<double>(std::max<std::int64_t>(1, training->standing().step - first));
  for (std::size_t i = 0; i < scene.hosts().size(); ++i) scene.hosts().heal(i);
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (training->standing().generation > 1) outcome.problems.emplace_back("a worker was declared lost");
  outcome.result += fmt::format(", {:.2f} s a step", step_seconds);
  if (step_seconds < std::chrono::duration<double>(how.delay).count() / 2) outcome.problems.emplace_back("the delay was not felt");
  return outcome;
}

FaultRow far(const std::string& id, const std::string& fault, const PacketRelayOptions& how) {
  return {.id = id, .fault = fault, .run = [how](Scene& scene) { return far_apart(scene, how); }, .limit = seconds(280)};
}

FaultRow lossy(int percent) {
  return {.id = fmt::format("F13.loss_{}", percent),
          .fault = fmt::format("every host loses {} % of what it is sent", percent),
          .run = [percent](Scene& scene) { return loss(scene, percent); },
          .limit = seconds(280)};
}

}  // namespace

Rows f13_bad_links() {
  using std::chrono::milliseconds;
  return {lossy(1),
          lossy(5),
          lossy(20),
          {.id = "F13.10mbit", .fault = "all links have 10 Mbit/s", .run = slow, .limit = seconds(280)},
          far("F13.delay_100ms", "whatever a host sends arrives 100 ms later", {.delay = milliseconds(100)}),
          far("F13.reorder", "a tenth of the packets overtakes others by up to 10 ms", {.delay = milliseconds(20), .early_percent = 10})};
}

}  // namespace trireme::tests::rows
