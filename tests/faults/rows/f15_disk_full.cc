// SPDX-License-Identifier: Apache-2.0
// F15: the disk of the run directory, or of the data cache, is full. Training goes on, the last good checkpoint stays good, and with room
// again nothing is missing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "tests/faults/small_disk.h"
#include "trireme/base/files.h"
#include "trireme/base/process.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

Outcome run_directory(Scene& scene) {
  const TrainingSetup setup{.settings = kLong};
  scene.control(setup);
  const SmallDisk disk(scene.folder() / "runs", 200);
  const auto training = scene.begin(setup);
  require(await([&] { return training->standing().committed > 0; }, seconds(20)), "no checkpoint was made");
  disk.fill();
  const auto code = training->wait(seconds(200));  // the rest of it, and a minute for its last checkpoint
  Outcome outcome;
  Observed observed{.run = training->run(),
                    .exit_code = code,
                    .expected_exit = code.value_or(0),
                    .text = training->text(),
                    .left_behind = training->left_behind()};
  Scene::check_invariants(*training, observed, outcome);
  if (!code) outcome.problems.emplace_back("I8 harness: it neither went on nor ended in 200 s");
  if (training->text().find("No space left") == std::string::npos) outcome.problems.emplace_back("no message says that the disk is full");
  if (training->text().find((scene.folder() / "runs").string()) == std::string::npos)
    outcome.problems.emplace_back("no message says where");
  if (training->text().find("the last checkpoint, after step") == std::string::npos)
    outcome.problems.emplace_back("it did not train to its end");
  disk.free();
  const std::string policy = code == 0 ? "went on" : fmt::format("trained to its end, then code {}", code.value_or(-1));
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

Outcome freed(Scene& scene) {
  const TrainingSetup setup{.settings = kLong};
  scene.control(setup);
  const SmallDisk disk(scene.folder() / "runs", 200);
  const auto training = scene.begin(setup);
  require(await([&] { return training->standing().committed > 0; }, seconds(20)), "no checkpoint was made");
  const auto says = [&](const std::string& words) { return training->text().find(words) != std::string::npos; };
  const auto is_refused = [&] {
    disk.fill();  // again, since what was being written is removed
    return says("is not written") && says("wait in memory");
  };
  require(await(is_refused, seconds(60)), "no word of a full disk");
  disk.free();
  Outcome outcome = scene.judge(*training, setup, {.model = Expectation::Model::exact});
  if (!says("a checkpoint is written again") || !says("none is lost"))
    outcome.problems.emplace_back("no word that the disk has room again");
  return outcome;
}

// Records in files, since what a synthetic set makes is in memory already.
fs::path job_with_files(const Scene& scene) {
  const fs::path records = scene.folder() / "records";
  const Ended made = run_trireme(
      {"convert", "--reader", "synthetic_digits", "--set", "samples=6000", "--to", "tfrecord", "--out", records.string()}, seconds(60));
  require(made.code == 0, "trireme convert: " + made.text);
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(records))
    if (entry.is_regular_file() && entry.path().filename().string().find("train") != std::string::npos)
      files.push_back(fmt::format("\"{}\"", entry.path().string()));
  require(!files.empty(), "trireme convert made no training file:\n" + made.text);
  fs::path job = scene.folder() / "job.toml";
  write_file_atomically(job, fmt::format("[model]\nname = \"mlp_128\"\n[data]\nreader = \"tfrecord\"\ntrain = [{}]\n"
                                         "[data.pipeline]\ncache = \"disk\"\n[train]\nepochs = 1\n",
                                         fmt::join(files, ", ")));
  return job;
}

// Samples take 6000 * 28 * 28 bytes, more than there are: refused before anything is trained, with place and reason.
Outcome data_cache(Scene& scene) {
  const fs::path job = job_with_files(scene);
  const SmallDisk disk(scene.folder() / "cache", 2);
  const ProcessOutput ended = run_process({"env", "XDG_CACHE_HOME=" + disk.place().string(), TRIREME_BINARY, "train", job.string(),
                                           "--runs", (scene.folder() / "runs").string(), "--threads", "1", "-n", "2"},
                                          seconds(60));
  Outcome outcome;
  const std::string text = ended.out + ended.err;
  if (!ended.status) outcome.problems.push_back("I8 harness: it neither went on nor ended in 60 s: " + text);
  if (ended.status && ended.status->code <= 0) outcome.problems.push_back(fmt::format("it {}: {}", ended.status->in_words(), text));
  if (ended.status) outcome.result = fmt::format("refused with code {}", ended.status->code);
  for (const std::string& words : {std::string("error: "), std::string("No space left"), disk.place().string()})
    if (text.find(words) == std::string::npos) outcome.problems.push_back(fmt::format("'{}' is not in what it prints: {}", words, text));
  outcome.invariants = "I7, I8";
  return outcome;
}

}  // namespace

Rows f15_disk_full() {
  return {{.id = "F15.run_directory",
           .fault = "the run directory's disk is full from the first checkpoint on",
           .run = run_directory,
           .limit = seconds(500)},
          {.id = "F15.freed",
           .fault = "the run directory's disk is full for some seconds of the training",
           .run = freed,
           .limit = seconds(300)},
          {.id = "F15.data_cache", .fault = "the disk of data.pipeline.cache = \"disk\" is too small", .run = data_cache}};
}

}  // namespace trireme::tests::rows
