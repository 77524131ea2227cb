// SPDX-License-Identifier: Apache-2.0
// A curve on another grid: each new value is the mean over its cell of the line through the old ones.
#pragma once

#include <span>

namespace trireme::data {

// `grid` ascends and has one place for each of `values`. The cells of `out` divide `low` to `high` evenly; beyond the grid the curve
// is 0. A narrow cell interpolates, a wide one averages: no pixel's light is lost.
void resample(std::span<const double> grid, std::span<const float> values, double low, double high, std::span<float> out);

}  // namespace trireme::data
