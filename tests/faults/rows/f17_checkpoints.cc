// SPDX-License-Identifier: Apache-2.0
// F17: damaged checkpoints are found before a weight is used, and the one before is taken, by name.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> checkpoints_of(const fs::path& run) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(run / "checkpoints")) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

void flip_a_bit(const fs::path& file) {
  std::string content = read_file(file);
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 4);
  write_file_atomically(file, content);
}

// A thousand bits, every truncation, swapped and missing files, another model: in one process, on files of a small model.
Outcome kinds(Scene&) {
  Outcome outcome;
  const int count = run_tests("trireme_train_test", "Checkpoints.*:Manifest.*", outcome);
  outcome.result = fmt::format("{} tests; 1000 flipped bits and every truncation: all found", count);
  return outcome;
}

Outcome newest(Scene& scene) {
  const TrainingSetup setup{.nodes = 2, .failpoints = kPace};  // so that there is a checkpoint before the last
  auto training = scene.start(setup);
  require(training->reaches_step(120), "the training did not begin: " + training->text());
  ::kill(training->pid(), SIGTERM);
  require(training->wait() == 143, "it was not stopped: " + training->text());
  const std::vector<fs::path> kept = checkpoints_of(training->run());
  require(kept.size() == 2, fmt::format("there are {} checkpoints, not two", kept.size()));
  flip_a_bit(kept[1] / "model.safetensors");
  TrainingSetup again = setup;
  again.resume = training->run();
  training = scene.start(again);
  Outcome outcome;
  if (training->wait() != 0) outcome.problems.emplace_back("it did not go on: " + training->text());
  for (const fs::path& checkpoint : kept)
    if (training->text().find(checkpoint.filename().string()) == std::string::npos)
      outcome.problems.push_back(fmt::format("{} is not named: {}", checkpoint.filename().string(), training->text()));
  if (!outcome.problems.empty()) return outcome;
  const double difference = std::abs(training->accuracy() - scene.control(setup).accuracy);
  if (difference > 0.5) outcome.problems.push_back(fmt::format("the accuracy differs by {:.2f} %", difference));
  outcome.result = "the older one was used and named";
  return outcome;
}

Outcome none_good(Scene& scene) {
  const TrainingSetup setup{.nodes = 2, .failpoints = kPace};  // so that there is a checkpoint before the last
  auto training = scene.start(setup);
  require(training->reaches_step(120), "the training did not begin: " + training->text());
  ::kill(training->pid(), SIGTERM);
  require(training->wait() == 143, "it was not stopped: " + training->text());
  for (const fs::path& checkpoint : checkpoints_of(training->run())) flip_a_bit(checkpoint / "model.safetensors");
  const Ended ended = run_trireme({"train", "--resume", training->run().string(), "-n", "2", "--threads", "1"}, std::chrono::seconds(30));
  Outcome outcome;
  if (ended.code == 0) outcome.problems.emplace_back("it went on without a good checkpoint");
  if (ended.text.find("model.safetensors") == std::string::npos) outcome.problems.emplace_back("the damage is not named: " + ended.text);
  outcome.result = fmt::format("exit code {} after {:.2f} s", ended.code, ended.seconds);
  return outcome;
}

}  // namespace

Rows f17_checkpoints() {
  return {{.id = "F17.kinds", .fault = "checkpoints damaged in every way", .run = kinds, .limit = std::chrono::seconds(200)},
          {.id = "F17.newest", .fault = "a bit of the newest checkpoint is flipped, then --resume", .run = newest},
          {.id = "F17.none_good", .fault = "both checkpoints are damaged, then --resume", .run = none_good}};
}

}  // namespace trireme::tests::rows
