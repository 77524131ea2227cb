// SPDX-License-Identifier: Apache-2.0
// F5: faults on top of faults: a server dies while a worker comes back, one of two servers dies, and both.
#include <fmt/format.h>

#include <csignal>
#include <thread>

#include "tests/faults/server_setups.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The worker is dead or on its way back; the others may just be entering a generation.
Outcome while_a_worker_recovers(Scene& scene, milliseconds after) {
  const TrainingSetup setup = with_servers({.nodes = 4, .servers = 2});
  const auto training = scene.begin(setup);
  training->signal_node(3, SIGKILL);
  std::this_thread::sleep_for(after);
  const Moment fault = Scene::moment(*training);
  training->signal_node(1, SIGKILL);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, kServerLost, outcome);
  return outcome;
}

FaultRow recovering(milliseconds after, bool is_brief = false) {
  return {.id = fmt::format("F5.recovering_{}ms", after.count()),
          .fault = fmt::format("kill -9 of one of two servers, {} ms after that of a worker", after.count()),
          .run = [after](Scene& scene) { return while_a_worker_recovers(scene, after); },
          .is_brief = is_brief};
}

}  // namespace

Rows f05_kill_server_again() {
  const auto two = [](const std::vector<int>& nodes) {
    return [nodes](Scene& scene) { return kill_nodes(scene, with_servers({.nodes = 4, .servers = 2}), nodes, kServerLost); };
  };
  return {recovering(milliseconds(50)),
          recovering(milliseconds(600), true),
          {.id = "F5.one_of_two", .fault = "kill -9 of the second of two servers", .run = two({1})},
          {.id = "F5.both", .fault = "kill -9 of both servers at once", .run = two({0, 1})}};
}

}  // namespace trireme::tests::rows
