// SPDX-License-Identifier: Apache-2.0
// F15: the disk of the run directory, or of the data cache, is full. The last good checkpoint stays good, and with room again the run goes
// on.
#include <fmt/format.h>

#include "tests/faults/scene.h"
#include "tests/faults/small_disk.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

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

// Samples take 6000 * 28 * 28 bytes, more than there are: refused before anything is trained, with place and reason.
Outcome data_cache(Scene& scene) {
  const SmallDisk disk(scene.folder() / "cache", 2);
  TrainingSetup setup{.settings = {"data.cache=\"disk\""}};
  setup.environment["XDG_CACHE_HOME"] = disk.place().string();
  const auto training = scene.start(setup);
  const auto code = training->wait(seconds(60));
  Outcome outcome{.result = fmt::format("refused with code {}", code.value_or(-1))};
  Observed observed{.exit_code = code, .expected_exit = code.value_or(1), .text = training->text(), .guilty = {"No space left"}};
  if (!code) observed.hang = "it neither went on nor ended in 60 s";
  observed.left_behind = training->left_behind();
  Scene::check_invariants(*training, observed, outcome);
  if (code == 0) outcome.problems.emplace_back("exit code 0 with a cache that has no room");
  if (training->text().find(disk.place().string()) == std::string::npos) outcome.problems.emplace_back("the place is not named");
  return outcome;
}

}  // namespace

Rows f15_disk_full() {
  return {{.id = "F15.run_directory",
           .fault = "the run directory's disk is full from the first checkpoint on",
           .run = run_directory,
           .limit = seconds(200)},
          {.id = "F15.data_cache", .fault = "the disk of data.cache = \"disk\" is too small", .run = data_cache}};
}

}  // namespace trireme::tests::rows
