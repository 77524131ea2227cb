// SPDX-License-Identifier: Apache-2.0
// F26: clocks of hosts are wrong, differently, and jump while training goes on. Nothing but certificates may depend on them.
#include <fmt/format.h>

#include <thread>

#include "tests/faults/scene.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

constexpr std::string_view kLibrary = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

// What the login shell of a host sets holds for the node that it starts.
void set_clock(TestHosts& hosts, std::size_t host, const std::string& offset) {
  require(std::filesystem::exists(kLibrary), "libfaketime is not installed");
  const auto file = hosts.folder() / fmt::format("clock-{}", host);
  write_file_atomically(file, offset + "\n");
  write_file_atomically(hosts.home(host) / ".bashrc",
                        fmt::format("export LD_PRELOAD={} FAKETIME_TIMESTAMP_FILE={} FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 "
                                    "FAKETIME_DONT_RESET=1\n",
                                    kLibrary, file.string()));
}

void jump(TestHosts& hosts, std::size_t host, const std::string& offset) {
  write_file_atomically(hosts.folder() / fmt::format("clock-{}", host), offset + "\n");
}

Outcome unlike(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true};
  scene.control(setup);
  TestHosts& hosts = scene.hosts(3);
  set_clock(hosts, 0, "+3600");
  set_clock(hosts, 1, "-3600");
  const auto training = scene.begin(setup);
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact, .clocks_differ = true});
  if (training->standing().generation > 1) outcome.problems.emplace_back("a worker was declared lost");
  return outcome;
}

Outcome jumping(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true};
  scene.control(setup);
  TestHosts& hosts = scene.hosts(3);
  for (const std::size_t host : {0U, 1U}) set_clock(hosts, host, "+0");
  const auto training = scene.begin(setup);
  jump(hosts, 0, "+3600");
  jump(hosts, 1, "-7200");
  std::this_thread::sleep_for(seconds(1));
  jump(hosts, 1, "+315360000");
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact, .clocks_differ = true});
  if (training->standing().generation > 1) outcome.problems.emplace_back("a worker was declared lost");
  return outcome;
}

// Its certificate is long over, by its own clock: it can't take part, and the message says why.
Outcome ten_years_ahead(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .flags = {"--start-timeout", "15"}};
  scene.control(setup);
  set_clock(scene.hosts(3), 1, "+315360000");
  const auto training = scene.start(setup);
  const auto code = training->wait(seconds(60));
  Outcome outcome{.result = fmt::format("exit code {}", code.value_or(-1))};
  Scene::check_invariants(*training, {.left_behind = training->left_behind()}, outcome);
  if (!code) outcome.problems.emplace_back("I8 harness: it had not ended after 60 s");
  const std::string text = training->text();
  if (text.find("clock") == std::string::npos) outcome.problems.emplace_back("no message says that a clock is wrong:\n" + text);
  return outcome;
}

}  // namespace

Rows f26_clock() {
  return {{.id = "F26.unlike", .fault = "two hosts' clocks are an hour ahead and behind", .run = unlike},
          {.id = "F26.jump", .fault = "two hosts' clocks jump in training: an hour, two hours back, ten years", .run = jumping},
          {.id = "F26.ten_years", .fault = "a host's clock is ten years ahead from the start", .run = ten_years_ahead}};
}

}  // namespace trireme::tests::rows
