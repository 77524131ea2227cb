// SPDX-License-Identifier: Apache-2.0
// F33: two jobs on the same hosts at once, and a run that is started twice. Neither disturbs the other.
#include <fmt/format.h>

#include <csignal>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

// Each has its own authority and ports; both models have the bits of an undisturbed run.
Outcome side_by_side(Scene& scene) {
  const TrainingSetup setup{.on_hosts = true, .settings = {"train.epochs=40"}};
  scene.control(setup);
  const auto one = scene.begin(setup);
  Scene beside(scene.folder() / "beside", scene.folder().parent_path() / "shared");
  const auto other = beside.start({.nodes = setup.nodes, .settings = setup.settings});
  Outcome second = beside.judge(*other, {.nodes = setup.nodes, .settings = setup.settings}, {.model = Expectation::Model::exact});
  Outcome outcome = scene.judge(*one, setup, {.model = Expectation::Model::exact});
  for (const auto& [name, training] : {std::pair{"first", one.get()}, std::pair{"second", other.get()}})
    if (training->standing().generation > 1) outcome.problems.push_back(fmt::format("the {} job lost a worker", name));
  outcome.problems.insert(outcome.problems.end(), second.problems.begin(), second.problems.end());
  return outcome;
}

// Refused while it is being trained; taken over when the process that held it is dead.
Outcome twice(Scene& scene) {
  const TrainingSetup setup{.settings = {"train.epochs=160"}};
  const auto training = scene.begin(setup);
  require(await([&] { return training->standing().committed > 0; }, seconds(20)), "no checkpoint after 20 s");
  const Ended second = run_trireme({"train", "--resume", training->run().string()}, seconds(20));
  ::kill(training->pid(), SIGKILL);
  require(training->wait(seconds(30)) == -SIGKILL, "the first was not killed");
  TrainingSetup rest = setup;
  rest.resume = training->run();
  const auto third = scene.start(rest);
  Outcome outcome = scene.judge(*third, setup, {.model = Expectation::Model::exact});
  if (second.code == 0 || second.text.find("is being trained by") == std::string::npos)
    outcome.problems.push_back(fmt::format("the second start ended with code {}: {}", second.code, second.text));
  outcome.result += "; refused while it ran, taken over when it was dead";
  return outcome;
}

}  // namespace

Rows f33_two_jobs() {
  return {{.id = "F33.side_by_side", .fault = "two jobs at once", .run = side_by_side, .limit = seconds(300)},
          {.id = "F33.twice",
           .fault = "a run is started while it is being trained, and again when its process is dead",
           .run = twice,
           .limit = seconds(300)}};
}

}  // namespace trireme::tests::rows
