// SPDX-License-Identifier: Apache-2.0
// F13: links that lose packets, and a slow one. (This machine's kernel has no netem: no added delay, no reordering.)
#include <fmt/format.h>

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
  if (is_tolerable && generations > 1) outcome.problems.emplace_back("a worker was taken for lost");
  if (!is_tolerable) outcome.result += fmt::format(", {} generations", generations);
  return outcome;
}

Outcome slow(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .settings = {"train.epochs=12"}};
  const auto training = scene.begin(setup, 5);
  for (std::size_t i = 0; i < scene.hosts().size(); ++i) scene.hosts().slow(i, "10mbit");
  training->wait(seconds(200));
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (training->standing().generation > 1) outcome.problems.emplace_back("a worker was taken for lost");
  return outcome;
}

FaultRow lossy(int percent) {
  return {.id = fmt::format("F13.loss_{}", percent),
          .fault = fmt::format("every host loses {} % of what it is sent", percent),
          .run = [percent](Scene& scene) { return loss(scene, percent); },
          .limit = seconds(280)};
}

}  // namespace

Rows f13_bad_links() {
  return {lossy(1), lossy(5), lossy(20), {.id = "F13.10mbit", .fault = "all links have 10 Mbit/s", .run = slow, .limit = seconds(280)}};
}

}  // namespace trireme::tests::rows
