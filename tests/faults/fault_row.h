// SPDX-License-Identifier: Apache-2.0
// A row of the fault table: what is done to a training, and what came of it. Each file x.cc of rows/ defines `Rows x()`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trireme::tests {

class Scene;

// What came of a fault. A row without problems has passed.
struct Outcome {
  std::optional<double> detected;          // seconds from the fault to the coordinator's note that a node is lost
  std::optional<double> recovered;         // seconds from the fault to the first step of the next generation
  std::optional<std::int64_t> lost_steps;  // done, and done again
  std::string result;                      // "exact", "98.50 % (98.60 % undisturbed)", "refused: ..."
  std::string invariants;                  // "I1-I9", or those that were checked
  std::vector<std::string> problems;       // each criterion not met and each violated invariant, in words
};

struct FaultRow {
  std::string id;     // the fault's number and what distinguishes it from others of that number: "F9.stop_2s"
  std::string fault;  // for the table
  std::function<Outcome(Scene&)> run;
  bool is_brief = false;            // part of the short form, which runs with all other tests
  bool is_random = false;           // another seed is another fault (Scene::seed)
  std::chrono::seconds limit{120};  // of the wall clock; a row that takes longer hangs, and fails
};

using Rows = std::vector<FaultRow>;

namespace rows {
const Rows& catalog();  // of all files, in the order of their names
}

}  // namespace trireme::tests
