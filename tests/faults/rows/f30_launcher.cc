// SPDX-License-Identifier: Apache-2.0
// F30: the terminal is closed, an ssh connection dies, the launcher dies: nothing may be left on the hosts.
#include <fmt/format.h>

#include <csignal>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

Outcome close_terminal(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .settings = {"train.epochs=100000"}};
  const auto training = scene.begin(setup);
  const double begin = wall_time();
  ::kill(training->pid(), SIGHUP);
  const auto code = training->wait(seconds(30));
  Outcome outcome{.result = fmt::format("exit code {} after {:.1f} s", code.value_or(-1), wall_time() - begin)};
  Scene::check_invariants(
      *training, {.run = training->run(), .exit_code = code, .expected_exit = 128 + SIGHUP, .left_behind = training->left_behind()},
      outcome);
  if (wall_time() - begin > 15) outcome.problems.emplace_back("it took more than 10 s");
  return outcome;
}

// The ssh process here that holds node `number`'s standard input.
pid_t ssh_of(const Training& training, const std::string& address) {
  const auto list = run_process({"pgrep", "-P", std::to_string(training.pid()), "-f", address}, seconds(10));
  require(!list.out.empty(), "no ssh process to " + address);
  return std::stoi(list.out);
}

// The node ends because its standard input does; it is started again over a new connection.
Outcome kill_ssh(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .settings = kLong};
  const auto training = scene.begin(setup);
  const auto node = training->node(1);
  require(node.has_value(), "node 1 does not run");
  const Moment fault = Scene::moment(*training);
  ::kill(ssh_of(*training, scene.hosts().address(1)), SIGKILL);
  const bool is_gone = await([&] { return ::kill(*node, 0) != 0; }, seconds(10));
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.recovered = 10, .lost_steps = 1}, outcome);
  if (!is_gone) outcome.problems.emplace_back("I6 harness: the node without a launcher still ran after 10 s");
  return outcome;
}

Outcome kill_launcher(Scene& scene) {
  constexpr int kKeep = 4;
  const TrainingSetup setup{.on_hosts = true, .settings = {"train.epochs=100000"}, .flags = {"--keep-nodes", std::to_string(kKeep)}};
  const auto training = scene.begin(setup);
  const double begin = wall_time();
  ::kill(training->pid(), SIGKILL);
  training->wait(seconds(10));
  const bool are_gone = await([&] { return training->all_nodes().empty(); }, seconds(kKeep + 10));
  Outcome outcome{.result = fmt::format("nodes gone after {:.1f} s of --keep-nodes {}", wall_time() - begin, kKeep)};
  Scene::check_invariants(*training, {.run = training->run(), .left_behind = training->left_behind()}, outcome);
  if (!are_gone) outcome.problems.emplace_back("I6 harness: nodes still ran 10 s after --keep-nodes was over");
  return outcome;
}

}  // namespace

Rows f30_launcher() {
  return {{.id = "F30.terminal", .fault = "SIGHUP to the launcher of nodes on three hosts", .run = close_terminal},
          {.id = "F30.ssh", .fault = "kill -9 one ssh connection of three", .run = kill_ssh},
          {.id = "F30.launcher", .fault = "kill -9 the launcher, not resumed", .run = kill_launcher}};
}

}  // namespace trireme::tests::rows
