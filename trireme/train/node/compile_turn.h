// SPDX-License-Identifier: Apache-2.0
// Who of a machine's nodes compiles first.
#pragma once

#include <functional>

#include "trireme/coord/membership.h"

namespace trireme::train {

// One node of a machine compiles while the others wait: alone it times algorithms undisturbed, and they use what it found, so that
// a repeated run computes the same bits.
void compile_in_turn(coord::Membership& membership, const coord::Generation& generation, const std::function<void()>& compile);

}  // namespace trireme::train
