// SPDX-License-Identifier: Apache-2.0
// The order of the samples in an epoch: a pure function of seed and epoch, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace trireme::data {

std::vector<std::int64_t> epoch_permutation(std::int64_t samples, std::uint64_t seed, std::int64_t epoch);

}  // namespace trireme::data
