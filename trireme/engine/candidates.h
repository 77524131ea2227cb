// SPDX-License-Identifier: Apache-2.0
// All the ways oneDNN has to compute one operation.
#pragma once

#include <string_view>
#include <vector>

#include "trireme/engine/algorithm_choice.h"
#include "trireme/engine/kernels/onednn.h"

namespace trireme::engine {

struct Operation {
  std::string_view label;
  const_dnnl_op_desc_t description;
  dnnl::primitive_attr attributes = user_scratchpad();
  const dnnl::primitive_desc_base* forward = nullptr;  // oneDNN wants it as a hint for a backward operation
};

// Appends oneDNN's implementations of `operation` to `into`, each labelled "<label> <implementation>"; none if it can't do it.
// The slow reference implementation counts only where there is nothing else.
void add_candidates(std::vector<Candidate>& into, const Device& device, const Operation& operation);

}  // namespace trireme::engine
