// SPDX-License-Identifier: Apache-2.0
// All the ways oneDNN has to compute one operation.
#pragma once

#include <string_view>
#include <vector>

#include "trireme/engine/algorithm_choice.h"
#include "trireme/engine/kernels/operations.h"

namespace trireme::engine {

// Appends oneDNN's implementations of an operation to `into`, each labelled "<label> <implementation>"; none if `description` is empty.
// The slow reference implementation counts only where there is nothing else.
void add_candidates(std::vector<Candidate>& into, std::string_view label, dnnl::primitive_desc description);

}  // namespace trireme::engine
