// SPDX-License-Identifier: Apache-2.0
// F12: a host, a minority or the coordinator is cut off, for long or short, one way or both.
#include <fmt/format.h>

#include <thread>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;
using Cut = void (*)(TestHosts& hosts);

constexpr int kHosts = 3;

void heal(TestHosts& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts.heal(i);
}

// Shorter than the limit of silence: all nodes wait, nothing is lost.
Outcome shortly(Scene& scene, Cut cut) {
  const TrainingSetup setup{.nodes = kHosts, .on_hosts = true};
  const auto training = scene.begin(setup);
  cut(scene.hosts());
  std::this_thread::sleep_for(seconds(2));
  heal(scene.hosts());
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (training->standing().generation > 1) outcome.problems.emplace_back("a worker was lost");
  return outcome;
}

// Longer: those on the coordinator's side go on, the others stop; when it heals they come back.
Outcome for_long(Scene& scene, Cut cut, seconds time) {
  const TrainingSetup setup{.nodes = kHosts, .on_hosts = true, .settings = time > seconds(30) ? kVeryLong : kLong, .failpoints = kPace};
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  cut(scene.hosts());
  std::this_thread::sleep_for(time);
  const double healed = wall_time();
  const Moment then = Scene::moment(*training);
  heal(scene.hosts());
  const bool came_back = training->passes_generation(then.generation, seconds(40));
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 6.5, .recovered = 10, .lost_steps = 1}, outcome);
  const Recovery back = recovery(training->history(), healed, then.generation);
  if (came_back && back.recovered) outcome.result += fmt::format(", back {:.1f} s after healing", *back.recovered);
  if (!came_back) outcome.problems.emplace_back("no node came back after the link had healed");
  return outcome;
}

// No node receives from the coordinator: none can commit, and none is to blame; all come back to it.
Outcome coordinator(Scene& scene) {
  const TrainingSetup setup{.nodes = kHosts, .on_hosts = true, .settings = kLong};
  const auto training = scene.begin(setup);
  const Moment fault = Scene::moment(*training);
  for (std::size_t i = 0; i < kHosts; ++i) scene.hosts().cut_from_owner(i);
  std::this_thread::sleep_for(seconds(10));
  heal(scene.hosts());
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.detected = 6.5, .recovered = 30}, outcome);
  return outcome;
}

void cut_one(TestHosts& hosts) { hosts.cut(1); }
void cut_receiving(TestHosts& hosts) { hosts.cut(1, TestHosts::Direction::in); }
void cut_sending(TestHosts& hosts) { hosts.cut(1, TestHosts::Direction::out); }
void cut_two(TestHosts& hosts) {
  hosts.cut(1);
  hosts.cut(2);
}
void cut_between(TestHosts& hosts) { hosts.cut(1, 2); }

FaultRow row(const std::string& name, const std::string& fault, std::function<Outcome(Scene&)> run) {
  return {.id = "F12." + name, .fault = fault, .run = std::move(run), .limit = seconds(500)};
}

}  // namespace

Rows f12_partition() {
  Rows rows{row("one_2s", "one host cut off for 2 s", [](Scene& s) { return shortly(s, cut_one); }),
            row("one_8s", "one host cut off for 8 s, then healed", [](Scene& s) { return for_long(s, cut_one, seconds(8)); }),
            row("one_60s", "one host cut off for 60 s, then healed", [](Scene& s) { return for_long(s, cut_one, seconds(60)); }),
            row("two_8s", "two hosts of three cut off for 8 s", [](Scene& s) { return for_long(s, cut_two, seconds(8)); }),
            row("receiving_8s", "one host receives nothing for 8 s", [](Scene& s) { return for_long(s, cut_receiving, seconds(8)); }),
            row("sending_8s", "one host's packets are dropped for 8 s", [](Scene& s) { return for_long(s, cut_sending, seconds(8)); }),
            row("pair_2s", "two hosts can't reach each other for 2 s", [](Scene& s) { return shortly(s, cut_between); }),
            row("coordinator_10s", "no node reaches the coordinator for 10 s", coordinator)};
  rows[1].is_brief = true;
  return rows;
}

}  // namespace trireme::tests::rows
