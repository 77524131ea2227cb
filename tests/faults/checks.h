// SPDX-License-Identifier: Apache-2.0
// The single proofs that check() is made of.
#pragma once

#include <vector>

#include "tests/faults/checker.h"
#include "tests/faults/lineage.h"

namespace trireme::tests {

using Violations = std::vector<Violation>;

void check_commits(const History& history, const Lineage& all, Violations& found);                     // I1, journals
void check_checkpoints(const Lineage& all, const std::filesystem::path& run, Violations& found);       // I1, disk
void check_fences(const History& history, const Lineage& all, bool clocks_differ, Violations& found);  // I2
void check_coverage(const Line& line, Violations& found);                                              // I3
void check_leases(const Lineage& all, bool is_finished, Violations& found);                            // I3, work by lease
void check_pushes(const History& history, const Lineage& all, Violations& found);                      // I3, updates by servers
void check_weights(const Lineage& all, const Line& line, Violations& found);                           // I4
void check_redone(const Lineage& all, Violations& found);                                              // I5
void check_observed(const Observed& observed, Violations& found);                                      // I6 to I9

}  // namespace trireme::tests
