// SPDX-License-Identifier: Apache-2.0
// F24: too few descriptors, and ports that are taken: it works all the same, or says what is missing.
#include <fmt/format.h>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"

namespace trireme::tests::rows {
namespace {

bool names_the_limit(const std::string& text) {
  return text.find("Too many open files") != std::string::npos || text.find("too many open files") != std::string::npos;
}

Outcome with_descriptors(Scene& scene, int count) {
  TrainingSetup setup{.nodes = 3};
  setup.wrapper = {"prlimit", fmt::format("--nofile={}", count)};
  const auto training = scene.start(setup);
  Outcome outcome;
  const auto code = training->wait();
  if (!code) outcome.problems.emplace_back("I8: it hangs: " + training->text());
  if (code && *code != 0 && !names_the_limit(training->text()))
    outcome.problems.push_back(fmt::format("exit code {} without naming the limit: {}", *code, training->text()));
  if (code)
    for (const std::string& left : training->left_behind()) outcome.problems.emplace_back("I6: " + left);
  outcome.invariants = "I6, I8";
  outcome.result = code == 0 ? "completes" : "ends in words";
  return outcome;
}

Outcome descriptors_64(Scene& scene) { return with_descriptors(scene, 64); }
Outcome descriptors_16(Scene& scene) { return with_descriptors(scene, 16); }

Outcome port_in_use(Scene&) {
  Outcome outcome;
  const int count = run_tests("trireme_rpc_test", "ServerTest.ListensOnlyWhereItIsTold", outcome);
  outcome.result = count == 1 ? "refused, with port and reason" : "";
  return outcome;
}

}  // namespace

Rows f24_limits() {
  return {{.id = "F24.descriptors_64", .fault = "64 descriptors for each process", .run = descriptors_64},
          {.id = "F24.descriptors_16", .fault = "16 descriptors for each process", .run = descriptors_16},
          {.id = "F24.port_in_use", .fault = "the coordinator's port is taken", .run = port_in_use, .is_brief = true}};
}

}  // namespace trireme::tests::rows
