// SPDX-License-Identifier: Apache-2.0
// F4: a parameter server dies by SIGKILL: before and after it applies a push, at random moments, alone and together with a worker.
#include <fmt/format.h>

#include <csignal>
#include <random>

#include "tests/faults/server_setups.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

FaultRow at_failpoint(const std::string& place, const std::string& mode, int visit, bool is_brief = false) {
  TrainingSetup setup = with_servers({.mode = mode});
  setup.failpoints = fmt::format("{}@0:{}:kill", place, visit);
  return {.id = fmt::format("F4.{}.{}", mode, place.substr(3)),
          .fault = fmt::format("kill -9 of the server at {} ({}. time), {}", place, visit, mode),
          .run = [setup](Scene& scene) { return obey(scene, setup, kServerLost); },
          .is_brief = is_brief};
}

// Whoever is the server now: the nodes are told apart by who writes that it applied pushes.
int server_of(const Training& training) {
  double newest = 0;
  std::string node = "0";
  for (const ProcessLog& log : training.history().nodes)
    for (const observe::Record& record : log.records)
      if (record.type == "applied" && record.time > newest) {
        newest = record.time;
        node = log.node;
      }
  return std::stoi(node);
}

Outcome at_random(Scene& scene, int kills) {
  const unsigned seed = std::random_device{}();
  fmt::print(stderr, "F4.random: seed {}\n", seed);
  std::mt19937 random(seed);
  const TrainingSetup setup = with_servers({.more = kLong});
  const auto training = scene.begin(setup);
  Outcome worst;
  for (int i = 0; i < kills; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(0, 1000)(random)));
    const int node = server_of(*training);
    require(training->node(node).has_value(), fmt::format("node {} does not run before kill {}:\n{}", node, i + 1, training->text()));
    const Moment fault = Scene::moment(*training);
    training->signal_node(node, SIGKILL);
    require(training->passes_generation(fault.generation + 1),
            fmt::format("no recovery to three nodes after kill {} (node {}):\n{}", i + 1, node, training->text()));
    Outcome one;
    Scene::measure(*training, fault, kServerLost, one);
    worst.detected = std::max(worst.detected, one.detected);
    worst.recovered = std::max(worst.recovered, one.recovered);
    for (const std::string& problem : one.problems) worst.problems.push_back(fmt::format("kill {} (seed {}): {}", i + 1, seed, problem));
  }
  Outcome outcome = scene.judge(*training, setup, {});
  outcome.detected = worst.detected;
  outcome.recovered = worst.recovered;
  outcome.problems.insert(outcome.problems.end(), worst.problems.begin(), worst.problems.end());
  return outcome;
}

}  // namespace

Rows f04_kill_server() {
  return {at_failpoint("ps.before_apply", "async", 400, true),
          at_failpoint("ps.after_apply_before_ack", "async", 60, true),
          at_failpoint("ps.before_apply", "bsp", 400),
          at_failpoint("ps.after_apply_before_ack", "bsp", 60),
          at_failpoint("ps.after_apply_before_ack", "ssp", 60),
          {.id = "F4.random",
           .fault = "kill -9 of the server, whoever it is, 5 times at random moments (the worst of each)",
           .run = [](Scene& scene) { return at_random(scene, 5); },
           .limit = seconds(400)},
          {.id = "F4.with_worker", .fault = "kill -9 of the server and a worker at once", .run = [](Scene& scene) {
             return kill_nodes(scene, with_servers({.nodes = 4}), {0, 2}, kServerLost);
           }}};
}

}  // namespace trireme::tests::rows
