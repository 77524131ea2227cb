// SPDX-License-Identifier: Apache-2.0
// Whether numbers are numbers: infinity and NaN are found in one pass at the speed of memory.
#pragma once

#include <limits>
#include <span>

namespace trireme {

// Infinity if any of them is infinite or not a number.
float largest_magnitude(std::span<const float> values);

inline bool are_finite(std::span<const float> values) { return largest_magnitude(values) <= std::numeric_limits<float>::max(); }

}  // namespace trireme
