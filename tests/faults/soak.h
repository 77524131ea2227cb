// SPDX-License-Identifier: Apache-2.0
// F32: a long training with a random fault every fifteen seconds.
#pragma once

#include <cstdint>

#include "tests/faults/fault_row.h"

namespace trireme::tests {

// `minutes` of faults on three hosts. The seed (0: a random one) is printed, so that a failed soak can be repeated.
FaultRow soak(double minutes, std::uint32_t seed);

}  // namespace trireme::tests
