// SPDX-License-Identifier: Apache-2.0
// F2: several workers die: two at once, one twice, all of them, and all of them again and again.
#include <fmt/format.h>

#include <csignal>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

Outcome two_at_once(Scene& scene) {
  const TrainingSetup setup{};
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  for (const int node : {1, 2}) training->signal_node(node, SIGKILL);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 1, .recovered = 10, .lost_steps = 1}, outcome);
  return outcome;
}

Outcome the_same_twice(Scene& scene) {
  const TrainingSetup setup{.settings = kLong};
  const auto training = scene.begin(setup);
  Moment fault = Scene::moment(*training);
  training->signal_node(1, SIGKILL);
  require(training->passes_generation(fault.generation + 1), "it did not come back the first time:\n" + training->text());
  fault = Scene::moment(*training);
  training->signal_node(1, SIGKILL);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 1, .recovered = 10, .lost_steps = 1}, outcome);
  return outcome;
}

// Nobody has the state any more but the disk.
Outcome all_at_once(Scene& scene) {
  const TrainingSetup setup{};
  const auto training = scene.begin(setup, 60);
  require(await([&] { return training->standing().committed > 0; }, seconds(20)), "no checkpoint after 20 s");
  const Moment fault = Scene::moment(*training);
  for (const int node : {0, 1, 2}) training->signal_node(node, SIGKILL);
  const std::int64_t committed = training->standing().committed;
  const std::int64_t done = training->standing().step;
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 1, .recovered = 15, .lost_steps = done - committed + 1}, outcome);
  return outcome;
}

// Every worker dies in its first step, whenever it is started: no progress, so the job must give up soon.
Outcome over_budget(Scene& scene) {
  TrainingSetup setup{.flags = {"--restarts", "2"}};
  setup.environment["TRIREME_FAILPOINTS"] = "step.before_allreduce:1:kill";
  const double begin = wall_time();
  const auto training = scene.start(setup);
  const auto code = training->wait(seconds(60));
  const double took = wall_time() - begin;
  Outcome outcome{.result = fmt::format("exit code {} after {:.0f} s", code.value_or(-1), took)};
  Observed observed{.exit_code = code, .expected_exit = code.value_or(1), .text = training->text(), .guilty = {"SIGKILL"}};
  if (!code) observed.hang = "it had not given up after 60 s";
  observed.left_behind = training->left_behind();
  Scene::check_invariants(*training, observed, outcome);
  if (code == 0) outcome.problems.emplace_back("exit code 0 though nothing was trained");
  if (took > 40) outcome.problems.push_back(fmt::format("it gave up after {:.0f} s only", took));
  return outcome;
}

}  // namespace

Rows f02_kill_several() {
  return {{.id = "F2.two_at_once", .fault = "kill -9 two of three workers at once", .run = two_at_once},
          {.id = "F2.same_twice", .fault = "kill -9 the same worker twice", .run = the_same_twice},
          {.id = "F2.all", .fault = "kill -9 all workers", .run = all_at_once, .is_brief = true},
          {.id = "F2.over_budget", .fault = "all workers die in every first step, --restarts 2", .run = over_budget}};
}

}  // namespace trireme::tests::rows
