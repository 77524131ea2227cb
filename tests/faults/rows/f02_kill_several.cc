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

// Only the disk has the state any more.
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

std::int64_t commits(const Training& training) {
  std::int64_t count = 0;
  for (const ProcessLog& log : training.history().coordinators)
    for (const observe::Record& record : log.records) count += record.type == "commit" ? 1 : 0;
  return count;
}

// So often that no generation lives as long as the time between two checkpoints: they are written all the same.
Outcome one_after_another(Scene& scene) {
  const TrainingSetup setup{.settings = {"train.epochs=100000", "train.checkpoint_seconds=5"}};
  const auto training = scene.begin(setup);
  const double end = wall_time() + 60;
  int kills = 0;
  for (int turn = 0; wall_time() < end; ++turn) {
    const double next = wall_time() + 3;
    for (int other = 0; other < setup.nodes; ++other) {
      const int node = (turn + other) % setup.nodes;
      if (!training->node(node)) continue;  // not yet started again
      training->signal_node(node, SIGKILL);
      ++kills;
      break;
    }
    await([&] { return wall_time() >= next || !training->is_running(); }, seconds(4));
  }
  const std::int64_t kept = commits(*training);
  ::kill(training->pid(), SIGTERM);
  Outcome outcome{.result = fmt::format("{} kills, {} checkpoints in 60 s", kills, kept)};
  Observed observed{.exit_code = training->wait(seconds(60)), .expected_exit = 128 + SIGTERM, .text = training->text()};
  if (!observed.exit_code) observed.hang = "it had not ended 60 s after SIGTERM";
  observed.left_behind = training->left_behind();
  observed.run = training->run();
  Scene::check_invariants(*training, observed, outcome);
  outcome.invariants = "I1-I8";
  if (kept < 5) outcome.problems.push_back(fmt::format("{} checkpoints in 60 s; with one every 5 s at least five are owed", kept));
  return outcome;
}

}  // namespace

Rows f02_kill_several() {
  return {{.id = "F2.two_at_once", .fault = "kill -9 two of three workers at once", .run = two_at_once},
          {.id = "F2.same_twice", .fault = "kill -9 the same worker twice", .run = the_same_twice},
          {.id = "F2.all", .fault = "kill -9 all workers", .run = all_at_once, .is_brief = true},
          {.id = "F2.every_3s",
           .fault = "kill -9 of one worker of three every 3 s for a minute, checkpoint_seconds = 5",
           .run = one_after_another,
           .limit = seconds(200)},
          {.id = "F2.over_budget", .fault = "all workers die in every first step, --restarts 2", .run = over_budget}};
}

}  // namespace trireme::tests::rows
