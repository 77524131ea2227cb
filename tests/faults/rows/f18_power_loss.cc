// SPDX-License-Identifier: Apache-2.0
// F18: the node that writes a checkpoint dies at each place of it: the old one or the new one loads, never a mix. (Prefixes of the system
// calls are replayed by trireme/train/checkpoint/checkpoint_crash_test.cc.)
#include <fmt/format.h>

#include <csignal>

#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

Outcome die_at(Scene& scene, const std::string& place) {
  const TrainingSetup setup{.flags = {"--keep-nodes", "1"}, .failpoints = place + "@coordinator:2:kill"};
  const auto training = scene.start(setup);
  require(training->obeyed(0).has_value(), fmt::format("no node reached {}:\n{}", place, training->text()));
  require(training->wait(seconds(30)) == -SIGKILL, "the writer was not killed");
  const std::filesystem::path run = training->run();
  const auto loads = run_process({TRIREME_BINARY, "eval", run.string()}, seconds(60));
  Outcome outcome;
  if (!loads.status || !loads.status->is_success())
    outcome.problems.push_back(fmt::format("no checkpoint loads: {}{}", loads.out, loads.err));
  training->left_behind();  // waits for the nodes' end: the rest begins from the disk
  TrainingSetup rest = setup;
  rest.failpoints = "";
  rest.resume = run;
  const auto second = scene.start(rest);
  Outcome resumed = scene.judge(*second, setup, {.model = Expectation::Model::exact});
  resumed.problems.insert(resumed.problems.begin(), outcome.problems.begin(), outcome.problems.end());
  return resumed;
}

FaultRow row(const std::string& place) {
  return {.id = "F18." + place.substr(place.find('.') + 1),
          .fault = fmt::format("kill -9 at {} of the second checkpoint, then --resume", place),
          .run = [place](Scene& scene) { return die_at(scene, place); }};
}

}  // namespace

Rows f18_power_loss() {
  return {row("ckpt.after_tmp_write"), row("ckpt.after_fsync"), row("ckpt.before_rename"), row("ckpt.after_rename_before_dirsync")};
}

}  // namespace trireme::tests::rows
