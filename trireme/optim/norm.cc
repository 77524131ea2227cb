// SPDX-License-Identifier: Apache-2.0
// Sums of squares over fixed blocks in fixed lanes, so that neither threads nor vector width change the order of additions.
#include "trireme/optim/norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trireme/base/parallel.h"
#include "trireme/base/vectorized.h"

namespace trireme::optim {
namespace {

constexpr std::int64_t kBlock = 1 << 13;
constexpr std::int64_t kLanes = 16;

TRIREME_VECTORIZED double sum_of_squares(const float* values, std::int64_t count) {
  std::array<double, kLanes> lanes{};
  const std::int64_t whole = count - count % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[static_cast<std::size_t>(lane)] += value * value;
    }
  }
  for (std::int64_t i = whole; i < count; ++i) lanes[static_cast<std::size_t>(i - whole)] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double squared_norm_of(std::span<const float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<double> sums(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  parallel_ranges(static_cast<std::int64_t>(sums.size()), 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t from = block * kBlock;
      sums[static_cast<std::size_t>(block)] = sum_of_squares(values.data() + from, std::min(kBlock, count - from));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double norm_of(std::span<const float> values) { return std::sqrt(squared_norm_of(values)); }

}  // namespace trireme::optim
