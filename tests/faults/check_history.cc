// SPDX-License-Identifier: Apache-2.0
// trireme_check_history FOLDER [--run RUN]: checks the event journals of a training, of any origin.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/faults/checker.h"

namespace trireme::tests {
namespace {

int usage() {
  std::fputs("usage: trireme_check_history FOLDER [--run RUN]   FOLDER is that of `trireme train --events`, RUN the run's directory\n",
             stderr);
  return 2;
}

int run(int count, char** words) {
  if (count != 2 && !(count == 4 && std::string_view(words[2]) == "--run")) return usage();
  const History history = read_history(words[1]);
  if (history.coordinators.empty() || history.nodes.empty()) {
    fmt::print(stderr, "{}: journals of a coordinator and its nodes are not there\n", words[1]);
    return 2;
  }
  Observed observed;
  if (count == 4) observed.run = words[3];
  const auto found = check(history, observed);
  for (const Violation& violation : found) fmt::print("{}\n", violation.in_words());
  const Standing end = standing(history);
  fmt::print("{} coordinators, {} nodes, {} generations, {} steps, last commit at step {}: {} violations\n", history.coordinators.size(),
             history.nodes.size(), end.generation, end.step, end.committed, found.size());
  return found.empty() ? 0 : 1;
}

}  // namespace
}  // namespace trireme::tests

int main(int count, char** words) {
  try {
    return trireme::tests::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trireme_check_history: error: %s\n", error.what());
    return 2;
  }
}
