// SPDX-License-Identifier: Apache-2.0
// For tests: the largest allocation made with operator new.
#pragma once

#include <cstddef>

namespace trireme::engine {

void reset_largest_allocation();
std::size_t largest_allocation();

}  // namespace trireme::engine
