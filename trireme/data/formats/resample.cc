// SPDX-License-Identifier: Apache-2.0
// Cells and segments of the line are walked together.
#include "trireme/data/formats/resample.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

// The integral over [a, b], inside segment `i`.
double integral(std::span<const double> grid, std::span<const float> values, std::size_t i, double a, double b) {
  const double left = values[i], right = values[i + 1];
  const double middle = ((a + b) / 2 - grid[i]) / (grid[i + 1] - grid[i]);
  return (b - a) * (left + (right - left) * middle);
}

}  // namespace

void resample(std::span<const double> grid, std::span<const float> values, double low, double high, std::span<float> out) {
  ensure(grid.size() == values.size() && grid.size() > 1 && low < high, "a curve and a range");
  const double step = (high - low) / static_cast<double>(out.size());
  std::size_t segment = 0;
  for (std::size_t cell = 0; cell < out.size(); ++cell) {
    const double begin = low + step * static_cast<double>(cell), end = begin + step;
    while (segment + 2 < grid.size() && grid[segment + 1] <= begin) ++segment;
    double sum = 0;
    for (std::size_t i = segment; i + 1 < grid.size() && grid[i] < end; ++i) {
      const double a = std::max(begin, grid[i]), b = std::min(end, grid[i + 1]);
      if (a < b) sum += integral(grid, values, i, a, b);
    }
    out[cell] = static_cast<float>(sum / step);
  }
}

}  // namespace trireme::data
