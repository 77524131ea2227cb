// SPDX-License-Identifier: Apache-2.0
// Other programs of this build as part of a row: `trireme` itself, and tests that cover a fault already.
#pragma once

#include <string>
#include <vector>

#include "tests/faults/fault_row.h"

namespace trireme::tests {

struct Ended {
  int code = 0;  // minus the signal, if one ended it; -1000: it had not ended in time and was killed
  double seconds = 0;
  std::string text;
};

Ended run_trireme(const std::vector<std::string>& arguments, std::chrono::seconds limit);

// Runs tests of a program of this build ("trireme_rpc_test", "tests/hosts/hosts_test") and notes a problem unless at least one ran and
// all passed. Returns how many.
int run_tests(const std::string& program, const std::string& filter, Outcome& outcome);

}  // namespace trireme::tests
