// SPDX-License-Identifier: Apache-2.0
// Prints shapes as people write them: 3x32x32.
#include "trireme/tensor/shape.h"

#include <fmt/ranges.h>

namespace trireme {

std::string Shape::to_string() const { return rank() == 0 ? "scalar" : fmt::format("{}", fmt::join(extents_, "x")); }

}  // namespace trireme
