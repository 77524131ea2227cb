// SPDX-License-Identifier: Apache-2.0
// Initial values of parameters: a pure function of the seed and the slice's name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/graph/op_entry.h"
#include "trireme/tensor/parameter_space.h"

namespace trireme::graph {

// Fills every slice of `space` as the spec of the same index says.
void initialize(const ParameterSpace& space, const std::vector<ParameterSpec>& specs, std::span<float> values, std::uint64_t seed);

}  // namespace trireme::graph
