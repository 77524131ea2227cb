// SPDX-License-Identifier: Apache-2.0
// F10: a server is stopped and goes on later. When it wakes up it must not serve the parameters that it had.
#include <csignal>
#include <thread>

#include "tests/faults/server_setups.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

Outcome stop_server(Scene& scene, seconds time, bool is_lost) {
  const TrainingSetup setup = with_servers({.more = is_lost ? kLong : std::vector<std::string>{}});
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  training->signal_node(0, SIGSTOP);
  std::this_thread::sleep_for(time);
  training->signal_node(0, SIGCONT);
  if (is_lost)
    require(training->passes_generation(fault.generation + 1), "the server that woke up did not come back:\n" + training->text());
  Outcome outcome = scene.judge(*training, setup, {});
  if (is_lost) Scene::measure(*training, fault, {.detected = 6, .recovered = 12}, outcome);
  if (!is_lost && training->standing().generation > 1) outcome.problems.emplace_back("a new generation began");
  return outcome;
}

}  // namespace

Rows f10_stop_server() {
  return {{.id = "F10.stop_2s",
           .fault = "SIGSTOP the server for 2 s",
           .run = [](Scene& scene) { return stop_server(scene, seconds(2), false); }},
          {.id = "F10.stop_30s",
           .fault = "SIGSTOP the server for 30 s; it comes back",
           .run = [](Scene& scene) { return stop_server(scene, seconds(30), true); },
           .limit = seconds(500)}};
}

}  // namespace trireme::tests::rows
