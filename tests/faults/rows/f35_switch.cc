// SPDX-License-Identifier: Apache-2.0
// F35: a node or the coordinator dies by SIGKILL while a training goes from one strategy to another.
#include <fmt/format.h>

#include "tests/faults/server_setups.h"

namespace trireme::tests::rows {
namespace {

struct Way {
  std::string name, from, to;
};

FaultRow killed_at(const Way& way, const std::string& place, const std::string& node, int visit, bool is_brief = false) {
  const TrainingSetup setup{
      .settings = {"strategy.name=\"switch\"", "strategy.from=\"" + way.from + "\"", "strategy.to=\"" + way.to + "\"", "strategy.at=0.5"},
      .failpoints = fmt::format("{}@{}:{}:kill", place, node, visit)};
  return {.id = fmt::format("F35.{}.{}{}", way.name, place, node == "coordinator" ? "" : "_" + node),
          .fault = fmt::format("kill -9 node {} at {} of a switch from {} to {}", node, place, way.from, way.to),
          .run = [setup](Scene& scene) { return obey(scene, setup, kServerLost); },
          .is_brief = is_brief};
}

}  // namespace

Rows f35_switch() {
  const Way to_servers{"to_ps", "allreduce", "ps:async"};
  const Way from_servers{"from_ps", "ps:async", "allreduce"};
  const Way to_one_server{"to_one", "allreduce", "ps:bsp,servers=1,placement=dedicated"};
  return {killed_at(to_servers, "switch.after_drain", "1", 1, true),
          killed_at(to_servers, "switch.before_rendezvous", "0", 2),
          killed_at(to_servers, "rdzv.after_join", "2", 2),
          killed_at(from_servers, "switch.after_drain", "0", 1),
          killed_at(from_servers, "switch.before_rendezvous", "1", 2, true),
          killed_at(from_servers, "rdzv.after_join", "2", 2),
          killed_at(to_one_server, "switch.after_drain", "0", 1),
          killed_at(to_one_server, "rdzv.after_join", "0", 2)};
}

}  // namespace trireme::tests::rows
