// SPDX-License-Identifier: Apache-2.0
// Borders between the workers are rounded, not their sizes, so the parts always fit together.
#include "trireme/data/source/division.h"

#include <cmath>
#include <numeric>

#include "trireme/base/error.h"

namespace trireme::data {

Range part_of(std::int64_t samples, std::span<const double> shares, std::int64_t rank) {
  ensure(rank >= 0 && rank < static_cast<std::int64_t>(shares.size()), "a rank among the shares");
  const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
  const auto border = [&](std::int64_t worker) -> std::int64_t {
    if (worker == static_cast<std::int64_t>(shares.size())) return samples;  // sums of shares may be off by a rounding
    const double before = std::accumulate(shares.begin(), shares.begin() + worker, 0.0);
    return std::llround(static_cast<double>(samples) * before / whole);
  };
  return {border(rank), border(rank + 1)};
}

}  // namespace trireme::data
