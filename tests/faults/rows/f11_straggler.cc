// SPDX-License-Identifier: Apache-2.0
// F11: a worker is slow, by its CPU or by its link. It is not dead, and the report says who it is.
#include <fmt/format.h>
#include <unistd.h>

#include "tests/faults/server_setups.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// A group of processes that together get a share of one core.
class CpuQuota {
 public:
  CpuQuota(pid_t pid, int percent) : folder_(fmt::format("/sys/fs/cgroup/cpu/trireme-faults-{}", ::getpid())) {
    require(fs::exists("/sys/fs/cgroup/cpu/cgroup.procs"), "the cpu controller of cgroup v1 is not mounted at /sys/fs/cgroup/cpu");
    fs::create_directory(folder_);
    put("cpu.cfs_period_us", 100'000);
    put("cpu.cfs_quota_us", std::int64_t{1000} * percent);
    put("cgroup.procs", pid);
  }
  ~CpuQuota() {
    std::error_code ignored;
    for (int i = 0; i < 100 && !fs::remove(folder_, ignored); ++i) ::usleep(50'000);  // once the processes are gone
  }
  CpuQuota(const CpuQuota&) = delete;
  CpuQuota& operator=(const CpuQuota&) = delete;

 private:
  void put(const char* name, std::int64_t value) const {
    OutputFile(folder_ / name, OutputFile::Mode::replace).write(std::to_string(value));
  }
  fs::path folder_;
};

bool is_named(const Training& training, std::string_view as = "straggler") {
  for (const ProcessLog& log : training.history().coordinators)
    for (const observe::Record& record : log.records)
      if (record.type == as && record.text("node") == "1") return true;
  return false;
}

Outcome end_of(Scene& scene, Training& training, const TrainingSetup& setup, Expectation::Model model) {
  Outcome outcome = scene.judge(training, setup, {.model = model});
  if (training.standing().generation > 1) outcome.problems.emplace_back("a worker was lost");
  return outcome;
}

Outcome with_little_cpu(Scene& scene, const TrainingSetup& setup) {
  const auto training = scene.begin(setup);
  const auto pid = training->node(1);
  require(pid.has_value(), "worker 1 does not run");
  const CpuQuota quota(*pid, 15);
  const double since = wall_time();
  const bool named = await([&] { return is_named(*training) || !training->is_running(); }, seconds(60)) && is_named(*training);
  const double after = wall_time() - since;
  Outcome outcome = end_of(scene, *training, setup, Expectation::Model::accurate);
  if (named) outcome.result += fmt::format(", named after {:.0f} s", after);
  if (!named) outcome.problems.emplace_back("the slow worker was not named within 60 s");
  return outcome;
}

// A network that computes more than it exchanges, so that the CPU is what counts.
Outcome little_cpu(Scene& scene) {
  return with_little_cpu(
      scene, {.settings = {"strategy.shares=\"automatic\"", "model.name=\"mnist_cnn\"", "train.batch_size=60", "train.epochs=2"}});
}

// The others go on at their own speed.
Outcome little_cpu_async(Scene& scene) {
  return with_little_cpu(scene, with_servers({.nodes = 4, .more = {"model.name=\"mnist_cnn\"", "train.batch_size=60", "train.epochs=2"}}));
}

// All wait for it alike; what the connections deliver shows whose link it is.
Outcome slow_link(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .settings = {"train.epochs=18"}};  // three measurements, the last two with the slow link
  const auto training = scene.begin(setup);
  scene.hosts().slow(1, "10mbit");
  Outcome outcome = end_of(scene, *training, setup, Expectation::Model::exact);
  if (is_named(*training, "slow_link"))
    outcome.result += ", named";
  else
    outcome.problems.emplace_back("the host with the slow link was not named:\n" + training->text());
  return outcome;
}

}  // namespace

Rows f11_straggler() {
  return {{.id = "F11.cpu_async",
           .fault = "one worker of three beside a server gets 15 % of a core",
           .run = little_cpu_async,
           .limit = seconds(200)},
          {.id = "F11.cpu", .fault = "one worker of three gets 15 % of a core", .run = little_cpu, .limit = seconds(200)},
          {.id = "F11.link", .fault = "one host's link has 10 Mbit/s", .run = slow_link, .limit = seconds(200)}};
}

}  // namespace trireme::tests::rows
