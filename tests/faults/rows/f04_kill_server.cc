// SPDX-License-Identifier: Apache-2.0
// F4: a parameter server dies by SIGKILL: before and after it applies a push, at random moments, alone and together with a worker.
#include <fmt/format.h>

#include "tests/faults/random_kills.h"
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

// The node that is the server now: the last one that wrote that it applied pushes.
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

Outcome servers_at_random(Scene& scene) {
  return kill_at_random(scene, with_servers({.more = kLong}), {.kills = 5, .longest_pause = std::chrono::seconds(1), .victim = server_of},
                        kServerLost);
}

// Two servers, two workers, a mode by the seed.
Outcome any_at_random(Scene& scene) {
  static constexpr const char* kModes[] = {"async", "bsp", "ssp", "dssp"};
  return kill_at_random(scene, with_servers({.nodes = 4, .servers = 2, .mode = kModes[scene.seed() % 4], .more = kLong}),
                        {.kills = 8, .longest_pause = std::chrono::milliseconds(500)}, kServerLost);
}

}  // namespace

Rows f04_kill_server() {
  return {at_failpoint("ps.before_apply", "async", 400, true),
          at_failpoint("ps.after_apply_before_ack", "async", 60, true),
          at_failpoint("ps.before_apply", "bsp", 400),
          at_failpoint("ps.after_apply_before_ack", "bsp", 60),
          at_failpoint("ps.after_apply_before_ack", "ssp", 60),
          {.id = "F4.random",
           .fault = "kill -9 of the server, whichever node it is, 5 times at random moments (the worst of each)",
           .run = servers_at_random,
           .is_random = true,
           .limit = seconds(400)},
          {.id = "F4.random_any",
           .fault = "kill -9 of 8 random nodes of two servers and two workers, in a mode by the seed (the worst of each)",
           .run = any_at_random,
           .is_random = true,
           .limit = seconds(500)},
          {.id = "F4.with_worker", .fault = "kill -9 of the server and a worker at once", .run = [](Scene& scene) {
             return kill_nodes(scene, with_servers({.nodes = 4}), {0, 2}, kServerLost);
           }}};
}

}  // namespace trireme::tests::rows
