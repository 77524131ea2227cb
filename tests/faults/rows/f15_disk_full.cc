// SPDX-License-Identifier: Apache-2.0
// F15: the disk of the run directory is full. The last good checkpoint stays good, and with room again the run goes on.
#include <fmt/format.h>
#include <sys/mount.h>

#include "tests/faults/scene.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// A file system of its own for the runs.
class SmallDisk {
 public:
  SmallDisk(fs::path place, int megabytes) : place_(std::move(place)) {
    make_directories(place_);
    const int failed = ::mount("tmpfs", place_.c_str(), "tmpfs", 0, fmt::format("size={}m", megabytes).c_str());
    require(failed == 0, "can't mount a tmpfs; this row needs root");
  }
  ~SmallDisk() { ::umount2(place_.c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  void fill() const {
    OutputFile file(place_ / "filler", OutputFile::Mode::replace);
    const std::string block(4096, 'x');
    try {
      for (;;) file.write(block);
    } catch (const Error&) {  // full
    }
  }
  void free() const { fs::remove(place_ / "filler"); }

 private:
  fs::path place_;
};

Outcome run_directory(Scene& scene) {
  const TrainingSetup setup{.settings = kLong};
  scene.control(setup);
  const SmallDisk disk(scene.folder() / "runs", 200);
  const auto training = scene.begin(setup);
  require(await([&] { return training->standing().committed > 0; }, seconds(20)), "no checkpoint was made");
  disk.fill();
  const auto code = training->wait(seconds(60));
  Outcome outcome;
  Observed observed{.run = training->run(),
                    .exit_code = code,
                    .expected_exit = code.value_or(0),
                    .text = training->text(),
                    .left_behind = training->left_behind()};
  Scene::check_invariants(*training, observed, outcome);
  if (!code) outcome.problems.emplace_back("I8 harness: it neither went on nor ended in 60 s");
  if (training->text().find("No space left") == std::string::npos) outcome.problems.emplace_back("nobody says that the disk is full");
  if (training->text().find((scene.folder() / "runs").string()) == std::string::npos) outcome.problems.emplace_back("nobody says where");
  disk.free();
  const std::string policy = code == 0 ? "went on" : fmt::format("stopped with code {}", code.value_or(-1));
  if (code == 0) {
    outcome.result = policy;
    return outcome;
  }
  TrainingSetup rest = setup;
  rest.resume = training->run();
  const auto second = scene.start(rest);
  Outcome resumed = scene.judge(*second, setup, {.model = Expectation::Model::exact});
  resumed.result = fmt::format("{}; {} after --resume", policy, resumed.result);
  resumed.problems.insert(resumed.problems.begin(), outcome.problems.begin(), outcome.problems.end());
  return resumed;
}

}  // namespace

Rows f15_disk_full() {
  return {{.id = "F15.run_directory",
           .fault = "the run directory's disk is full from the first checkpoint on",
           .run = run_directory,
           .limit = seconds(200)}};
}

}  // namespace trireme::tests::rows
