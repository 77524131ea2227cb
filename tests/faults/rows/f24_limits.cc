// SPDX-License-Identifier: Apache-2.0
// F24: too few descriptors or threads, and ports that are taken: it works all the same, or says what is missing.
#include <fmt/format.h>
#include <unistd.h>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

bool names_the_limit(const std::string& text) {
  return text.find("Too many open files") != std::string::npos || text.find("too many open files") != std::string::npos;
}

Outcome with_descriptors(Scene& scene, int count) {
  TrainingSetup setup{.nodes = 3};
  setup.wrapper = {"prlimit", fmt::format("--nofile={}", count)};
  const auto training = scene.start(setup);
  Outcome outcome;
  const auto code = training->wait();
  if (!code) outcome.problems.emplace_back("I8: it hangs: " + training->text());
  if (code && *code != 0 && !names_the_limit(training->text()))
    outcome.problems.push_back(fmt::format("exit code {} without naming the limit: {}", *code, training->text()));
  if (code)
    for (const std::string& left : training->left_behind()) outcome.problems.emplace_back("I6: " + left);
  outcome.invariants = "I6, I8";
  outcome.result = code == 0 ? "completes" : "ends in words";
  return outcome;
}

Outcome descriptors_64(Scene& scene) { return with_descriptors(scene, 64); }
Outcome descriptors_16(Scene& scene) { return with_descriptors(scene, 16); }

// The limit of a group of processes; that of a user does not hold for root.
class ThreadLimit {
 public:
  explicit ThreadLimit(int count) : folder_(fmt::format("/sys/fs/cgroup/pids/trireme-faults-{}", ::getpid())) {
    require(std::filesystem::exists("/sys/fs/cgroup/pids/cgroup.procs"),
            "the pids controller of cgroup v1 is not mounted at /sys/fs/cgroup/pids");
    std::filesystem::create_directory(folder_);
    OutputFile(folder_ / "pids.max", OutputFile::Mode::replace).write(std::to_string(count));
  }
  ~ThreadLimit() {
    std::error_code ignored;
    for (int i = 0; i < 100 && !std::filesystem::remove(folder_, ignored); ++i) ::usleep(50'000);  // once the processes are gone
  }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
  // Put before a command: the shell joins the group and becomes the command.
  std::vector<std::string> wrapper() const {
    return {"sh", "-c", fmt::format("echo $$ > {}/cgroup.procs && exec \"$@\"", folder_.string()), "limited"};
  }

 private:
  std::filesystem::path folder_;
};

Outcome with_threads(Scene& scene, int count) {
  const ThreadLimit limit(count);
  TrainingSetup setup{.nodes = 3};
  setup.wrapper = limit.wrapper();
  const auto training = scene.start(setup);
  Outcome outcome{.result = "completes", .invariants = "I6, I8"};
  const auto code = training->wait();
  if (!code) outcome.problems.emplace_back("I8: it hangs: " + training->text());
  if (code && *code < 0) outcome.problems.push_back(fmt::format("signal {} ended it: {}", -*code, training->text()));
  if (code && *code != 0) {
    outcome.result = fmt::format("ends in words, exit code {}", *code);
    const std::string text = training->text();
    if (text.find("Resource temporarily unavailable") == std::string::npos || text.find("error: ") == std::string::npos)
      outcome.problems.push_back(fmt::format("exit code {} without naming the limit: {}", *code, text));
  }
  if (code)
    for (const std::string& left : training->left_behind()) outcome.problems.emplace_back("I6: " + left);
  return outcome;
}

Outcome port_in_use(Scene&) {
  Outcome outcome;
  const int count = run_tests("trireme_rpc_test", "ServerTest.ListensOnlyWhereConfigured", outcome);
  outcome.result = count == 1 ? "refused, with port and reason" : "";
  return outcome;
}

}  // namespace

Rows f24_limits() {
  return {{.id = "F24.descriptors_64", .fault = "64 descriptors for each process", .run = descriptors_64},
          {.id = "F24.descriptors_16", .fault = "16 descriptors for each process", .run = descriptors_16},
          {.id = "F24.threads_300",
           .fault = "300 threads for the launcher and all nodes",
           .run = [](Scene& scene) { return with_threads(scene, 300); }},
          {.id = "F24.threads_30",
           .fault = "30 threads for the launcher and all nodes",
           .run = [](Scene& scene) { return with_threads(scene, 30); },
           .limit = std::chrono::seconds(300)},
          {.id = "F24.port_in_use", .fault = "the coordinator's port is taken", .run = port_in_use, .is_brief = true}};
}

}  // namespace trireme::tests::rows
