// SPDX-License-Identifier: Apache-2.0
// All the ways oneDNN has to compute one operation.
#pragma once

#include <string_view>
#include <vector>

#include "trireme/engine/algorithm_choice.h"
#include "trireme/engine/onednn.h"

namespace trireme::engine {

// Appends oneDNN's implementations of `operation` to `into`, each labelled "<prefix> <implementation>"; none if it can't do it.
// The slow reference implementation counts only where there is nothing else.
void add_candidates(std::vector<Candidate>& into, std::string_view prefix, const Device& device, const_dnnl_op_desc_t operation,
                    const dnnl::primitive_attr& attributes, const dnnl::primitive_desc_base* forward = nullptr);

}  // namespace trireme::engine
