// SPDX-License-Identifier: Apache-2.0
// F16: the disk of the run directory says EIO, is read-only, or has no room for another name. A failed sync is a failure, never tried
// again as a success; the last good checkpoint loads, and with a good disk the run goes on.
#include <fmt/format.h>

#include "tests/faults/scene.h"
#include "tests/faults/small_disk.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

// `words` are the system's: they must be in what is printed.
Outcome resumed_after(Scene& scene, const TrainingSetup& setup, Training& first, const std::string& words,
                      const std::function<void()>& mend) {
  const auto code = first.wait(seconds(200));  // the rest of it, and a minute for its last checkpoint
  Outcome outcome;
  Observed observed{.run = first.run(), .exit_code = code, .expected_exit = code.value_or(0), .text = first.text()};
  if (!code) observed.hang = "it neither went on nor ended in 200 s";
  observed.left_behind = first.left_behind();
  mend();
  Scene::check_invariants(first, observed, outcome);
  if (first.text().find(words) == std::string::npos)
    outcome.problems.push_back(fmt::format("'{}' is not in what it prints: {}", words, first.text()));
  const std::string policy = code == 0 ? "went on" : fmt::format("ended with code {}", code.value_or(-1));
  if (code == 0) {
    outcome.result = policy;
    return outcome;
  }
  TrainingSetup rest = setup;
  rest.failpoints = "";
  rest.resume = first.run();
  const auto second = scene.start(rest);
  Outcome resumed = scene.judge(*second, setup, {.model = Expectation::Model::exact});
  resumed.result = fmt::format("{}; {} after --resume", policy, resumed.result);
  resumed.problems.insert(resumed.problems.begin(), outcome.problems.begin(), outcome.problems.end());
  return resumed;
}

Outcome failing_place(Scene& scene, const std::string& place) {
  TrainingSetup setup{.failpoints = fmt::format("{}@coordinator:2:eio", place)};
  const auto training = scene.start(setup);
  return resumed_after(scene, setup, *training, "Input/output error", [] {});
}

// Names run out: a checkpoint needs a directory and four files.
Outcome no_names(Scene& scene) {
  const TrainingSetup setup{.settings = kLong};
  scene.control(setup);
  const SmallDisk disk(scene.folder() / "runs", 200, 60);
  const auto training = scene.begin(setup);
  require(await([&] { return training->standing().committed > 0; }, seconds(20)), "no checkpoint was made");
  const auto filler = [](int i) { return fmt::format("filler-{}", i); };
  int made = 0;
  try {
    for (; made < 100; ++made) OutputFile(disk.place() / filler(made), OutputFile::Mode::replace);
  } catch (const Error&) {  // none left
  }
  return resumed_after(scene, setup, *training, "No space left", [&] {
    for (int i = 0; i < made; ++i) std::filesystem::remove(disk.place() / filler(i));
  });
}

}  // namespace

Rows f16_disk_errors() {
  return {{.id = "F16.eio_write",
           .fault = "EIO after a checkpoint's files were written, before they are synced",
           .run = [](Scene& scene) { return failing_place(scene, "ckpt.after_tmp_write"); },
           .limit = seconds(200)},
          {.id = "F16.eio_rename",
           .fault = "EIO before a checkpoint's rename",
           .run = [](Scene& scene) { return failing_place(scene, "ckpt.before_rename"); },
           .limit = seconds(200)},
          {.id = "F16.inodes", .fault = "the run directory's disk has no room for another name", .run = no_names, .limit = seconds(500)}};
}

}  // namespace trireme::tests::rows
