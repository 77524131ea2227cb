// SPDX-License-Identifier: Apache-2.0
// The L2 norm of a long array, with the same bits for any number of threads and any CPU.
#pragma once

#include <span>

namespace trireme::optim {

double norm_of(std::span<const float> values);
double squared_norm_of(std::span<const float> values);

}  // namespace trireme::optim
