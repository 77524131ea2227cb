// SPDX-License-Identifier: Apache-2.0
// F28: one worker's gradients are not numbers. The job ends and names it, or leaves that step out; no other node is poisoned. local_sgd is
// not here (its workers' weights differ between averages, which the checker takes for a fault): skipped_steps_test has it.
#include <fmt/format.h>

#include "tests/faults/server_setups.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

constexpr std::string_view kOrder = "step.gradients@2:40:nan";

TrainingSetup spoiled(TrainingSetup setup, const std::string& policy) {
  setup.settings.push_back(fmt::format("train.on_non_finite=\"{}\"", policy));
  setup.failpoints = kOrder;
  return setup;
}

int skipped_steps(const Training& training) {
  const std::string journal = read_file(training.run() / "journal.jsonl");
  int count = 0;
  for (std::size_t at = journal.find("\"skipped\":"); at != std::string::npos; at = journal.find("\"skipped\":", at + 1)) ++count;
  return count;
}

Outcome stops(Scene& scene, const TrainingSetup& given) {
  const TrainingSetup setup = spoiled(given, "stop");
  const auto training = scene.start(setup);
  Outcome outcome = scene.judge(*training, setup,
                                {.model = Expectation::Model::any,
                                 .exit_code = 1,
                                 .guilty = {"step ", "rank 2", "not finite", "no weight was changed by it", "checkpoint"},
                                 .innocent = {"rank 0", "rank 1", "lost"}});
  outcome.result = "exit code 1; rank, step and last good checkpoint named";
  return outcome;
}

Outcome skips(Scene& scene, const TrainingSetup& given) {
  const TrainingSetup setup = spoiled(given, "skip");
  const auto training = scene.start(setup);
  Outcome outcome = scene.judge(*training, setup, {});
  if (const int steps = skipped_steps(*training); steps != 1)
    outcome.problems.push_back(fmt::format("{} skipped steps are in the journal, not one", steps));
  if (training->text().find("skipped: loss or gradients of rank 2 are not finite") == std::string::npos)
    outcome.problems.emplace_back("the skipped step was not reported");
  outcome.result += ", 1 step skipped";
  return outcome;
}

FaultRow row(const std::string& name, const std::string& where, Outcome (*judge)(Scene&, const TrainingSetup&), const TrainingSetup& setup,
             bool is_brief = false) {
  const bool is_stop = judge == stops;
  return {.id = "F28." + name,
          .fault = fmt::format("NaN in the gradients of one worker, {}, on_non_finite = {}", where, is_stop ? "stop" : "skip"),
          .run = [judge, setup](Scene& scene) { return judge(scene, setup); },
          .is_brief = is_brief};
}

}  // namespace

Rows f28_non_finite() {
  return {row("stop", "allreduce", stops, {}, true), row("skip", "allreduce", skips, {}, true),
          row("stop_async", "ps:async with a server apart", stops, with_servers({})),
          row("skip_async", "ps:async with a server apart", skips, with_servers({})),
          row("skip_bsp", "ps:bsp with a server apart", skips, with_servers({.mode = "bsp"}))};
}

}  // namespace trireme::tests::rows
