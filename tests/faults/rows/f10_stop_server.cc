// SPDX-License-Identifier: Apache-2.0
// F10: a server, or the coordinator, is stopped and goes on later. A server that wakes up must not serve the parameters that it had; a
// coordinator that wakes up is the only one, since no other could take its place meanwhile.
#include <fmt/format.h>

#include <csignal>
#include <thread>

#include "tests/faults/parts.h"
#include "tests/faults/server_setups.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

Outcome stop_server(Scene& scene, seconds time, bool is_lost) {
  const TrainingSetup setup = with_servers({.more = is_lost ? kVeryLong : std::vector<std::string>{}});
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

Outcome stop_coordinator(Scene& scene, seconds time) {
  const TrainingSetup setup{.settings = kLong};
  const auto training = scene.begin(setup);
  require(await([&] { return training->standing().committed > 0; }, seconds(20)), "no checkpoint after 20 s");
  const Moment fault = Scene::moment(*training);
  ::kill(training->pid(), SIGSTOP);
  std::this_thread::sleep_for(time / 2);
  const Ended second = run_trireme({"train", "--resume", training->run().string()}, seconds(20));
  std::this_thread::sleep_for(time / 2);
  ::kill(training->pid(), SIGCONT);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {}, outcome);
  if (second.code == 0 || second.text.find("is being trained by") == std::string::npos)
    outcome.problems.push_back(fmt::format("a second coordinator ended with code {}: {}", second.code, second.text));
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
           .limit = seconds(500)},
          {.id = "F10.coordinator_30s",
           .fault = "SIGSTOP the coordinator for 30 s; meanwhile another wants to resume the run",
           .run = [](Scene& scene) { return stop_coordinator(scene, seconds(30)); },
           .limit = seconds(500)}};
}

}  // namespace trireme::tests::rows
