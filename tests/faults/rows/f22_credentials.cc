// SPDX-License-Identifier: Apache-2.0
// F22: a peer without this job's certificate is refused quickly, and the training does not notice; the log reports it once a second.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "tests/faults/strangers.h"
#include "trireme/base/error.h"
#include "trireme/base/host.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/server.h"

namespace trireme::tests::rows {
namespace {

constexpr Seconds kPatience{5};
constexpr Seconds kHour{3600};
// A small network with many steps, so that there is time for them and none has to wait long.
const TrainingSetup kSetup{
    .nodes = 2, .settings = {"model.name=\"mlp_128\"", "train.epochs=80", "strategy.shares=\"equal\""}, .failpoints = kPace};

struct Attempt {
  std::string name;
  rpc::Credentials credentials;
};

std::vector<Attempt> attempts() {
  const auto other = rpc::Authority::create();
  const auto expired = other.issue({.role = "node", .name = "0"}, {}, -2 * rpc::Authority::kClockSlack);
  return {{"a node of another job", other.issue({.role = "node", .name = "0"}, {}, kHour)},
          {"a coordinator of another job", other.issue({.role = "coordinator", .name = "0"}, {}, kHour)},
          {"an expired certificate", expired},
          {"no certificate", {.authority = other.certificate(), .certificate = {}, .key = {}}}};
}

// Seconds until it was refused.
double refused_after(const Attempt& attempt, const std::string& address, Outcome& outcome) {
  const SteadyClock clock;
  const Seconds start = clock.now();
  try {
    rpc::Channel::connect(address, attempt.credentials, kPatience);
    outcome.problems.push_back(attempt.name + " was let in");
  } catch (const Error& error) {
    if (error.code() != unauthenticated) outcome.problems.push_back(fmt::format("{}: {}", attempt.name, error.what()));
  }
  return (clock.now() - start).count();
}

Outcome strangers(Scene& scene) {
  scene.control(kSetup);
  const auto training = scene.start(kSetup);
  require(training->reaches_step(30), "the training did not begin: " + training->text());
  const std::vector<Port> ports = ports_of(training->pid());
  require(ports.size() == 1, fmt::format("the coordinator listens on {} ports", ports.size()));
  const std::string address = join_host_port(ports[0].address, ports[0].number);
  Outcome refused;
  double slowest = 0;
  for (const Attempt& attempt : attempts()) slowest = std::max(slowest, refused_after(attempt, address, refused));
  Caller(ports[0]).say("GET / HTTP/1.1\r\n\r\n");
  await([&] { return training->text().find("did not show a certificate") != std::string::npos; }, std::chrono::seconds(12));
  const std::string text = training->text();
  Outcome outcome = scene.judge(*training, kSetup, {.model = Expectation::Model::exact});
  outcome.problems.insert(outcome.problems.end(), refused.problems.begin(), refused.problems.end());
  if (slowest > 1) outcome.problems.push_back(fmt::format("a refusal took {:.2f} s", slowest));
  if (text.find("127.0.0.1:") == std::string::npos || text.find("did not show a certificate of this job") == std::string::npos)
    outcome.problems.emplace_back("the log does not report them: " + text);
  outcome.result += fmt::format("; each refused within {:.2f} s", slowest);
  return outcome;
}

// The first certificates have ended when the coordinator is killed; the same nodes find the next one with later ones.
Outcome ended(Scene& scene) {
  constexpr double kValidity = 60;
  constexpr double kSlack = kValidity / 4;  // for clocks that differ
  TrainingSetup setup{.settings = {"train.epochs=100000"}, .flags = {"--certificate-seconds", "60"}};
  const auto first = scene.begin(setup);
  const double end = wall_time() + kValidity + kSlack;
  await([&] { return wall_time() > end || !first->is_running(); }, std::chrono::seconds(120), std::chrono::milliseconds(500));
  require(first->is_running(), "it ended with its certificates:\n" + first->text());
  const std::vector<pid_t> nodes = first->all_nodes();
  const Moment fault = Scene::moment(*first);
  ::kill(first->pid(), SIGKILL);
  require(first->wait(std::chrono::seconds(30)) == -SIGKILL, "the coordinator was not killed:\n" + first->text());
  setup.resume = first->run();
  const auto second = scene.start(setup);
  require(second->passes_generation(fault.generation, std::chrono::seconds(40)), "the nodes did not rejoin:\n" + second->text());
  Outcome outcome{.result = "the same nodes after 75 s"};
  if (second->all_nodes() != nodes) outcome.problems.emplace_back("other nodes were started:\n" + second->text());
  Scene::measure(*second, fault, {.recovered = 15, .lost_steps = 1}, outcome);
  outcome.detected.reset();
  ::kill(second->pid(), SIGTERM);
  Observed observed{.exit_code = second->wait(std::chrono::seconds(60)), .expected_exit = 128 + SIGTERM, .text = second->text()};
  observed.left_behind = second->left_behind();
  observed.run = second->run();
  Scene::check_invariants(*second, observed, outcome);
  outcome.invariants = "I1-I8";
  return outcome;
}

// Every role at every method, wrong names, plaintext, replays, forgers at the rendezvous.
Outcome matrix(Scene&) {
  Outcome outcome;
  const int servers = run_tests("trireme_rpc_test", "ServerTest.*:Authority*", outcome);
  const int roles = run_tests("trireme_train_test", "Roles.*", outcome);
  const int collectives = run_tests("trireme_comm_test", "Strangers.*:Links.*", outcome);
  outcome.result = fmt::format("{} tests", servers + roles + collectives);
  return outcome;
}

}  // namespace

Rows f22_credentials() {
  return {{.id = "F22.strangers",
           .fault = "certificates of another job, expired, none; plaintext",
           .run = strangers,
           .limit = std::chrono::seconds(300)},
          {.id = "F22.ended",
           .fault = "certificates of 60 s; kill -9 the coordinator when the first ones have ended, then --resume",
           .run = ended,
           .limit = std::chrono::seconds(300)},
          {.id = "F22.matrix", .fault = "every role at every method; forgers at the rendezvous", .run = matrix}};
}

}  // namespace trireme::tests::rows
