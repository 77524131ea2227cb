// SPDX-License-Identifier: Apache-2.0
// Proves the promises I1 to I9 of a training from its event journals, its run directory and what a harness has seen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/history.h"

namespace trireme::tests {

struct Violation {
  std::string invariant;  // "I3"
  std::string file;       // the journal that shows it; or "run", "harness"
  std::string what;
  std::string where;  // generation, step, line

  std::string in_words() const;  // one line
};

// What journals can't show. All of it may be left out.
struct Observed {
  std::filesystem::path run;     // its directory: the last two committed checkpoints must be there, whole
  std::optional<int> exit_code;  // of `trireme train`; a signal as minus its number
  int expected_exit = 0;
  std::string text;                      // what it printed
  std::vector<std::string> guilty;       // words that its line "error: ..." must have, if it was expected to fail
  std::vector<std::string> innocent;     // words that this line must not have
  std::vector<std::string> left_behind;  // I6: processes, listeners, temporary files that should be gone
  std::string hang;                      // I8: what did not end in time
  std::int64_t peak_memory = 0;          // I9: bytes of the largest process; 0: not measured
  std::string largest;                   // whose that was
  std::int64_t control_memory = 0;       // the same without a fault
  // Clocks of processes differ on purpose: nothing is concluded from comparing times of two journals.
  bool clocks_differ = false;
};

std::vector<Violation> check(const History& history, const Observed& observed);

}  // namespace trireme::tests
