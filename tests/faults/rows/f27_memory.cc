// SPDX-License-Identifier: Apache-2.0
// F27: a worker takes more memory than its control group has, and the kernel ends it. It is named with limit and peak; if that happens
// twice in a row, the job stops instead of trying for ever.
#include <fmt/format.h>
#include <unistd.h>

#include "tests/faults/scene.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

constexpr int kMegabytes = 1200;  // a training has some 300; the one that hoards is by far the largest

// A group of version 1, which is what this row was made on.
class MemoryLimit {
 public:
  MemoryLimit() : folder_(fmt::format("/sys/fs/cgroup/memory/trireme-faults-{}", ::getpid())) {
    require(std::filesystem::exists("/sys/fs/cgroup/memory/cgroup.procs"),
            "the memory controller of cgroup v1 is not mounted at /sys/fs/cgroup/memory");
    std::filesystem::create_directory(folder_);
    OutputFile(folder_ / "memory.limit_in_bytes", OutputFile::Mode::replace).write(fmt::format("{}M", kMegabytes));
  }
  ~MemoryLimit() {
    std::error_code ignored;
    for (int i = 0; i < 100 && !std::filesystem::remove(folder_, ignored); ++i) ::usleep(50'000);  // once the processes are gone
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  std::vector<std::string> wrapper() const {
    return {"sh", "-c", fmt::format("echo $$ > {}/cgroup.procs && exec \"$@\"", folder_.string()), "limited"};
  }

 private:
  std::filesystem::path folder_;
};

void require_words(const std::string& text, const std::vector<std::string>& expected, Outcome& outcome) {
  for (const std::string& words : expected)
    if (text.find(words) == std::string::npos) outcome.problems.push_back(fmt::format("'{}' is not in what it prints: {}", words, text));
}

// The others go on, and it is started again. Its hoard is no leak: memory is not compared.
Outcome once(Scene& scene) {
  const MemoryLimit limit;
  TrainingSetup setup{.failpoints = "step.mid_allreduce@1:40:hoard"};
  scene.control({});
  setup.wrapper = limit.wrapper();
  const auto training = scene.start(setup);
  const auto hoards = training->obeyed(0);
  require(hoards.has_value(), "node 1 did not come to the place:\n" + training->text());
  const Moment fault = Scene::moment(*training, *hoards);
  Outcome outcome = scene.judge(*training, setup, {});
  std::erase_if(outcome.problems, [](const std::string& problem) { return problem.starts_with("I9"); });
  outcome.invariants = "I1-I8";
  Scene::measure(*training, fault, {.detected = 10, .recovered = 15, .lost_steps = 1}, outcome);
  require_words(training->text(), {"rank 1", "killed by SIGKILL, out of memory", "the limit", "the peak"}, outcome);
  return outcome;
}

Outcome twice(Scene& scene) {
  const MemoryLimit limit;
  TrainingSetup setup;
  setup.environment["TRIREME_FAILPOINTS"] = "step.mid_allreduce@1:1:hoard";
  setup.wrapper = limit.wrapper();
  const auto training = scene.start(setup);
  const double begin = wall_time();
  const auto code = training->wait(seconds(90));
  Outcome outcome{.result = fmt::format("exit code {} after {:.0f} s", code.value_or(-1), wall_time() - begin)};
  Observed observed{.exit_code = code, .expected_exit = 1, .text = training->text(), .guilty = {"out of memory", "--resume"}};
  if (!code) observed.hang = "it had not ended after 90 s";
  observed.left_behind = training->left_behind();
  Scene::check_invariants(*training, observed, outcome);
  outcome.invariants = "I1-I8";
  require_words(training->text(), {"ended twice in a row"}, outcome);
  return outcome;
}

}  // namespace

Rows f27_memory() {
  return {{.id = "F27.once", .fault = "the kernel ends a worker that takes more memory than its group has", .run = once},
          {.id = "F27.twice", .fault = "the same whenever it is started", .run = twice, .limit = seconds(200)}};
}

}  // namespace trireme::tests::rows
