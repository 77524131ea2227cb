// SPDX-License-Identifier: Apache-2.0
// All the ways oneDNN has to compute one operation.
#pragma once

#include <string_view>
#include <vector>

#include "trireme/engine/algorithm_choice.h"
#include "trireme/engine/kernels/operations.h"

namespace trireme::engine {

// Appends implementations of an operation to `into`, each labelled "<label> <implementation>". The slow reference implementation counts
// only where there is nothing else.
void add_candidates(std::vector<Candidate>& into, std::string_view label, const Implementations& implementations);

}  // namespace trireme::engine
