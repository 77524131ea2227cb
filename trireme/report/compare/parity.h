// SPDX-License-Identifier: Apache-2.0
// Whether runs may be compared: everything besides the strategy that could make their results differ, in words.
#pragma once

#include <vector>

#include "trireme/report/compare/comparison_document.h"

namespace trireme::report {

// Runs of different models or data are not compared with one another.
std::vector<ParityNote> parity_of(const std::vector<ComparedRun>& runs);

}  // namespace trireme::report
