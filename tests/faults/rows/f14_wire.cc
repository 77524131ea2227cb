// SPDX-License-Identifier: Apache-2.0
// F14: bytes that change on the way and connections that are torn: noticed, and the work is done again; no wrong weight.
#include <fmt/format.h>

#include <cstdlib>

#include "tests/faults/server_setups.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

// A small network with many steps: what counts is the traffic.
const TrainingSetup kSetup{.nodes = 2, .on_hosts = true, .settings = {"model.name=\"mlp_128\"", "train.epochs=80"}};

void nft(const TestHosts& hosts, std::size_t host, const std::string& command) {
  const auto output = hosts.run(host, {"nft", command});
  require(output.status && output.status->is_success(), fmt::format("nft {}: {}", command, output.err));
}

// What `host` receives ("input") or sends ("output") goes through a chain of its own.
void add_chain(const TestHosts& hosts, std::size_t host, const std::string& hook) {
  nft(hosts, host, "add table ip f14");
  nft(hosts, host, fmt::format("add chain ip f14 wire {{ type filter hook {} priority -300; }}", hook));
}

// How many packets the rule has struck: "... counter packets 12 bytes 3400 ...".
int struck(const TestHosts& hosts, std::size_t host) {
  constexpr std::string_view kMark = "counter packets ";
  const std::string text = hosts.run(host, {"nft", "list table ip f14"}).out;
  const std::size_t at = text.find(kMark);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + kMark.size());
}

void remove_chain(const TestHosts& hosts, std::size_t host) { nft(hosts, host, "delete table ip f14"); }

// Packets of some length, so that it is the contents that are hit: a byte behind the headers (nft reaches 255 bytes).
std::string corruption(const std::string& which) {
  constexpr int kTcpHeader = 32;  // with timestamps
  constexpr int kByte = 150;
  return fmt::format("add rule ip f14 wire {} tcp sport != 22 tcp dport != 22 ip length > 1000 counter @th,{},8 set 0x5a", which,
                     8 * (kTcpHeader + kByte));
}

// A rule is put in at step 40 and taken away when the members have noticed.
Outcome disturb(Scene& scene, const TrainingSetup& setup, const std::function<std::string(TestHosts&)>& rule,
                const std::string& hook = "input") {
  const auto training = scene.start(setup);
  require(training->reaches_step(40), "the training did not begin: " + training->text());
  TestHosts& hosts = scene.hosts();
  add_chain(hosts, 0, hook);
  const Moment fault = Scene::moment(*training);
  nft(hosts, 0, rule(hosts));
  const bool noticed = await([&] { return training->standing().generation > fault.generation || !training->is_running(); }, seconds(20));
  const int packets = struck(hosts, 0);
  remove_chain(hosts, 0);
  Outcome outcome = scene.judge(*training, setup, {});
  Scene::measure(*training, fault, {.recovered = 15, .lost_steps = 1}, outcome);
  if (packets == 0) outcome.problems.emplace_back("the rule struck no packet: nothing was disturbed");
  if (!noticed) outcome.problems.emplace_back("no node noticed within 20 s");
  return outcome;
}

Outcome corrupt_gradients(Scene& scene) {
  return disturb(scene, kSetup, [](TestHosts& hosts) { return corruption("ip saddr " + hosts.address(1)); });
}

// From worker to coordinator, where checkpoints go: what the coordinator says in training is too short for the rule.
Outcome corrupt_tls(Scene& scene) {
  TrainingSetup setup = kSetup;
  setup.settings = kLong;
  return disturb(
      scene, setup, [](TestHosts& hosts) { return corruption("ip daddr " + hosts.own_address()); }, "output");
}

Outcome reset(Scene& scene, const TrainingSetup& setup) {
  return disturb(scene, setup, [](TestHosts& hosts) {
    return fmt::format("add rule ip f14 wire ip saddr {} tcp sport != 22 tcp dport != 22 counter reject with tcp reset", hosts.address(1));
  });
}

}  // namespace

Rows f14_wire() {
  return {{.id = "F14.corrupt_gradients",
           .fault = "bytes between two workers change on the way",
           .run = corrupt_gradients,
           .limit = seconds(300)},
          {.id = "F14.corrupt_tls",
           .fault = "bytes between coordinator and worker change on the way",
           .run = corrupt_tls,
           .limit = seconds(300)},
          {.id = "F14.reset",
           .fault = "connections between two workers are reset",
           .run = [](Scene& scene) { return reset(scene, kSetup); },
           .limit = seconds(300)},
          // Host 1 is the server: its replies to a worker are lost on the way, and so is what the worker sends.
          {.id = "F14.reset_replies",
           .fault = "connections between a server and a worker are reset",
           .run =
               [](Scene& scene) {
                 TrainingSetup setup = with_servers({.nodes = 3});
                 setup.on_hosts = true;
                 return reset(scene, setup);
               },
           .limit = seconds(300)}};
}

}  // namespace trireme::tests::rows
