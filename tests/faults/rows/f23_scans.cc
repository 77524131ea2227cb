// SPDX-License-Identifier: Apache-2.0
// F23: port scans at the rendezvous and during training, at the coordinator's and the collectives' ports; and a flood of handshakes.
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/faults/scene.h"
#include "tests/faults/strangers.h"
#include "trireme/base/error.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kMegabyte = 1 << 20;
// A small network with many steps, so that there is time for the strangers.
const TrainingSetup kSetup{
    .nodes = 2, .settings = {"model.name=\"mlp_128\"", "train.epochs=80", "strategy.shares=\"equal\""}, .failpoints = kPace};

// Ends before what it looks at.
class Scanner {
 public:
  Scanner(std::function<std::vector<Port>()> ports, double each_second)
      : thread_([this, ports = std::move(ports), each_second] {
          made_ = pester(
              ports, [this] { return !ended_; }, each_second);
        }) {}
  ~Scanner() { ended_ = true; }

  std::int64_t end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
    return made_;
  }

 private:
  std::atomic<bool> ended_{false};
  std::atomic<std::int64_t> made_{0};
  std::jthread thread_;
};

std::vector<Port> ports_of_children(pid_t process) {
  std::vector<Port> all;
  for (const pid_t child : children_of(process))
    for (const Port& port : ports_of(child)) all.push_back(port);
  return all;
}

// The second member comes late, so that the first listens for a while.
Outcome scan(Scene& scene) {
  scene.control(kSetup);
  TrainingSetup late = kSetup;
  late.failpoints = "rdzv.before_join@1:1:sleep=2";
  const auto training = scene.start(late);
  Scanner coordinator([&] { return ports_of(training->pid()); }, 200);
  Scanner collectives([&] { return ports_of_children(training->pid()); }, 1000);
  require(training->reaches_step(100, seconds(90)), "the training did not get on: " + training->text());
  const std::int64_t at_collectives = collectives.end();
  const std::int64_t at_coordinator = coordinator.end();
  const std::vector<Port> left = ports_of_children(training->pid());
  Outcome outcome = scene.judge(*training, kSetup, {.model = Expectation::Model::exact});
  if (at_collectives == 0 || at_coordinator == 0) outcome.problems.emplace_back("the scanner came too late");
  if (!left.empty()) outcome.problems.emplace_back("nodes still listen during the training");
  outcome.result += fmt::format("; {} connections to the coordinator, {} to collectives", at_coordinator, at_collectives);
  return outcome;
}

Outcome hold(Scene& scene) {
  scene.control(kSetup);
  const auto training = scene.start(kSetup);
  require(training->reaches_step(30), "the training did not begin: " + training->text());
  const std::vector<Port> ports = ports_of(training->pid());
  require(ports.size() == 1, fmt::format("the coordinator listens on {} ports", ports.size()));
  const std::int64_t descriptors = descriptors_of(training->pid());
  const std::int64_t memory = memory_in_use(training->pid());
  std::vector<Caller> held;
  for (int i = 0; i < 1000; ++i) held.emplace_back(ports[0]).say(i % 3 == 0 ? client_hello() : i % 3 == 1 ? "\x16" : "");
  std::this_thread::sleep_for(milliseconds(500));
  const std::int64_t most = descriptors_of(training->pid());
  const std::int64_t growth = (memory_in_use(training->pid()) - memory) / kMegabyte;
  const auto start = std::chrono::steady_clock::now();
  const bool back = await([&] { return descriptors_of(training->pid()) <= descriptors + 2 || !training->is_running(); }, seconds(30));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const bool still_runs = training->is_running();
  Outcome outcome = scene.judge(*training, kSetup, {.model = Expectation::Model::exact});
  if (!back || !still_runs) outcome.problems.emplace_back("the descriptors did not come back while it ran");
  if (growth > 50) outcome.problems.push_back(fmt::format("{} MB more memory", growth));
  outcome.result += fmt::format("; descriptors {} -> {} -> back after {:.1f} s, memory +{} MB", descriptors, most, took.count(), growth);
  return outcome;
}

// Something else that is flooded: what the flood itself costs this machine.
class Dummy {
 public:
  Dummy() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof own;
    ensure(::bind(listener_, reinterpret_cast<sockaddr*>(&own), length) == 0, "a port of its own is always free");
    ::listen(listener_, 1024);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &length);
    port_ = {"127.0.0.1", ntohs(own.sin_port)};
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const int caller = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (caller >= 0)
          ::close(caller);
        else
          std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  ~Dummy() {
    thread_.request_stop();
    thread_.join();
    ::close(listener_);
  }
  Dummy(const Dummy&) = delete;
  Dummy& operator=(const Dummy&) = delete;
  const Port& port() const { return port_; }

 private:
  int listener_;
  Port port_;
  std::jthread thread_;
};

struct Flooded {
  double steps_a_second = 0;
  double handshakes_a_second = 0;
};

Flooded flood(const Training& training, const Port& port, seconds duration) {
  const std::string hello = client_hello();
  std::atomic<std::int64_t> made{0};
  const std::int64_t before = training.standing().step;
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        while (std::chrono::steady_clock::now() - start < duration) {
          const Caller caller(port);
          caller.say(hello);
          made += caller.open() ? 1 : 0;
        }
      });
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {static_cast<double>(training.standing().step - before) / took.count(), static_cast<double>(made) / took.count()};
}

// S19. The flood and the training share this machine's cores, so it is compared with the same flood at a port of no interest.
Outcome handshakes(Scene& scene) {
  // Its speed is measured, so it keeps no pace but has more to do.
  const TrainingSetup setup{.nodes = 2, .settings = kVeryLong};
  scene.control(setup);
  const auto training = scene.start(setup);
  require(training->reaches_step(30), "the training did not begin: " + training->text());
  const std::vector<Port> ports = ports_of(training->pid());
  require(ports.size() == 1, fmt::format("the coordinator listens on {} ports", ports.size()));
  const Dummy dummy;
  const Flooded elsewhere = flood(*training, dummy.port(), seconds(4));
  const Flooded here = flood(*training, ports[0], seconds(4));
  const bool still_runs = training->is_running();
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (!still_runs) outcome.problems.emplace_back("the training ended before the flood");
  const double ratio = elsewhere.steps_a_second / std::max(here.steps_a_second, 1e-9);
  if (ratio > 1.5) outcome.problems.push_back(fmt::format("steps take {:.2f} times as long", ratio));
  if (here.handshakes_a_second < 1000) outcome.problems.emplace_back("that was no flood");
  outcome.result +=
      fmt::format("; {:.0f} handshakes a second: a step takes {:.2f} times as long as with the same flood elsewhere ({:.0f}/s)",
                  here.handshakes_a_second, ratio, elsewhere.handshakes_a_second);
  return outcome;
}

}  // namespace

Rows f23_scans() {
  return {
      {.id = "F23.scan", .fault = "port scans at rendezvous and training, coordinator and collectives", .run = scan, .limit = seconds(300)},
      {.id = "F23.hold", .fault = "1000 connections to the coordinator held open", .run = hold, .limit = seconds(300)},
      {.id = "F23.handshakes", .fault = "thousands of bad handshakes a second (S19)", .run = handshakes, .limit = seconds(300)}};
}

}  // namespace trireme::tests::rows
