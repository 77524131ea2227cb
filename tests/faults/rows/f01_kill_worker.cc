// SPDX-License-Identifier: Apache-2.0
// F1: a worker dies by SIGKILL, at every place that has a failpoint and at random moments. The others go on; it is started again.
#include <fmt/format.h>

#include "tests/faults/random_kills.h"
#include "tests/faults/server_setups.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

constexpr Limits kPromised{.detected = 1, .recovered = 10, .lost_steps = 1};

// `order` kills one of three nodes once.
Outcome kill_at(Scene& scene, const std::string& order) {
  const TrainingSetup setup{.failpoints = order};
  const auto training = scene.start(setup);
  const auto killed = training->obeyed(0);
  require(killed.has_value(), fmt::format("no node reached '{}':\n{}", order, training->text()));
  const Moment fault = Scene::moment(*training, *killed);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, kPromised, outcome);
  return outcome;
}

FaultRow at_failpoint(const std::string& place, int node, int visit, bool is_brief = false) {
  const std::string order = fmt::format("{}@{}:{}:kill", place, node, visit);
  return {.id = "F1." + place,
          .fault = fmt::format("kill -9 worker {} at {} ({}. time)", node, place, visit),
          .run = [order](Scene& scene) { return kill_at(scene, order); },
          .is_brief = is_brief};
}

// Servers keep what they have, so nothing of the others is done again.
FaultRow beside_servers(const std::string& mode, bool is_brief = false) {
  return {.id = "F1.ps_" + mode,
          .fault = fmt::format("kill -9 one of two workers beside a server, {}", mode),
          .run = [mode](Scene& scene) { return kill_nodes(scene, with_servers({.mode = mode}), {2}, kWorkerLost); },
          .is_brief = is_brief};
}

// In the middle of a push, or when every server has answered it and the lead has not been notified: no sample counts twice, none is lost.
FaultRow in_a_push(const std::string& place, const std::string& mode, int visit, bool is_brief = false) {
  TrainingSetup setup = with_servers({.nodes = 4, .servers = 2, .mode = mode});
  setup.failpoints = fmt::format("{}@3:{}:kill", place, visit);
  return {.id = fmt::format("F1.ps_{}.{}", mode, place.substr(3)),
          .fault = fmt::format("kill -9 one of two workers beside two servers at {} ({}. time), {}", place, visit, mode),
          .run = [setup](Scene& scene) { return obey(scene, setup, kWorkerLost); },
          .is_brief = is_brief};
}

}  // namespace

Rows f01_kill_worker() {
  return {at_failpoint("rdzv.before_join", 1, 1),
          at_failpoint("rdzv.after_join", 1, 1),
          at_failpoint("step.before_allreduce", 1, 40),
          at_failpoint("step.mid_allreduce", 1, 40, true),
          at_failpoint("step.after_apply", 0, 40, true),
          at_failpoint("ckpt.before_hand_in", 0, 2),
          {.id = "F1.random",
           .fault = "kill -9 of 20 random workers at random moments (the worst of each)",
           .run = [](Scene& scene) { return kill_at_random(scene, {.settings = kVeryLong}, {}, kPromised); },
           .is_random = true,
           .limit = seconds(500)},
          beside_servers("async", true),
          beside_servers("bsp"),
          beside_servers("ssp"),
          beside_servers("dssp"),
          in_a_push("ps.between_pieces", "async", 403, true),
          in_a_push("ps.between_pieces", "ssp", 403),
          in_a_push("ps.between_pieces", "bsp", 403),
          in_a_push("ps.after_acknowledged", "async", 60),
          in_a_push("ps.after_acknowledged", "dssp", 60),
          in_a_push("ps.after_acknowledged", "bsp", 60)};
}

}  // namespace trireme::tests::rows
