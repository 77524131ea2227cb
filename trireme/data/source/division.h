// SPDX-License-Identifier: Apache-2.0
// How the samples of one batch are divided among workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::data {

// A run of samples of a batch or of a set.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

// The part of `rank`, one of `shares.size()` workers with these relative sizes. The parts of all workers follow each other and
// make up [0, samples): nothing is left over or taken twice, whatever the numbers.
Range part_of(std::int64_t samples, std::span<const double> shares, std::int64_t rank);

}  // namespace trireme::data
