// SPDX-License-Identifier: Apache-2.0
// Plain loops over rows, written so that the compiler turns each into vectors.
#include "trireme/data/pipeline/transform_loops.h"

#include <array>
#include <cmath>

#include "trireme/base/vectorized.h"

namespace trireme::data {
namespace {

constexpr std::size_t kLanes = 16;

template <class Stored>
[[gnu::always_inline]] inline void convert(const Stored* __restrict from, std::int64_t count, float center, float factor,
                                           float* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = (static_cast<float>(from[i]) - center) * factor;
}

template <class Stored>
[[gnu::always_inline]] inline void convert_backwards(const Stored* __restrict from, std::int64_t count, float center, float factor,
                                                     float* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = (static_cast<float>(from[count - 1 - i]) - center) * factor;
}

[[gnu::always_inline]] inline void fill(float* to, std::int64_t count, float value) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = value;
}

template <class Stored>
[[gnu::always_inline]] inline void convert_window(const Plane& plane, const Stored* stored, float center, float factor, float* values) {
  const Window w = plane.window;
  const float zero = (0 - center) * factor;
  const std::int64_t left = plane.mirrored ? plane.width - w.to_column - w.columns : w.to_column;
  fill(values, w.to_row * plane.width, zero);
  for (std::int64_t row = 0; row < w.rows; ++row) {
    const Stored* from = stored + (w.from_row + row) * plane.width + w.from_column;
    float* to = values + (w.to_row + row) * plane.width;
    fill(to, left, zero);
    if (plane.mirrored) {
      convert_backwards(from, w.columns, center, factor, to + left);
    } else {
      convert(from, w.columns, center, factor, to + left);
    }
    fill(to + left + w.columns, plane.width - left - w.columns, zero);
  }
  const std::int64_t below = w.to_row + w.rows;
  fill(values + below * plane.width, (plane.height - below) * plane.width, zero);
}

template <class Stored>
[[gnu::always_inline]] inline void convert_values(const Plane& row, const Stored* stored, const float* center, const float* factor,
                                                  float* values) {
  const Window w = row.window;
  const Stored* from = stored + w.from_column;
  for (std::int64_t i = 0; i < w.to_column; ++i) values[i] = (0 - center[i]) * factor[i];
  for (std::int64_t i = 0, to = w.to_column; i < w.columns; ++i, ++to) values[to] = (static_cast<float>(from[i]) - center[to]) * factor[to];
  for (std::int64_t i = w.to_column + w.columns; i < row.width; ++i) values[i] = (0 - center[i]) * factor[i];
}

// Sixteen sums side by side, so that neither vector width nor CPU change the order of additions.
TRIREME_VECTORIZED double sum_of(const float* values, std::size_t count) {
  std::array<double, kLanes> lanes{};
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  for (std::size_t i = whole; i < count; ++i) lanes[i - whole] += values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

TRIREME_VECTORIZED void scale_by(float* values, std::size_t count, float center, float factor) {
  for (std::size_t i = 0; i < count; ++i) values[i] = (values[i] - center) * factor;
}

// A float's square is exact in a double, so a fused multiply-add gives the same sum.
TRIREME_VECTORIZED double sum_of_squares(const float* values, std::size_t count) {
  std::array<double, kLanes> lanes{};
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(values[i + lane]) * values[i + lane];
  for (std::size_t i = whole; i < count; ++i) lanes[i - whole] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

TRIREME_VECTORIZED void convert_plane(const Plane& plane, const std::uint8_t* stored, float center, float factor, float* values) {
  convert_window(plane, stored, center, factor, values);
}

TRIREME_VECTORIZED void convert_plane(const Plane& plane, const float* stored, float center, float factor, float* values) {
  convert_window(plane, stored, center, factor, values);
}

TRIREME_VECTORIZED void convert_row(const Plane& row, const std::uint8_t* stored, const float* center, const float* factor, float* values) {
  convert_values(row, stored, center, factor, values);
}

TRIREME_VECTORIZED void convert_row(const Plane& row, const float* stored, const float* center, const float* factor, float* values) {
  convert_values(row, stored, center, factor, values);
}

// Centred first: the squares of what is left don't cancel, however far from 0 the values lie.
void standardize(std::span<float> values) {
  const auto count = static_cast<double>(values.size());
  scale_by(values.data(), values.size(), static_cast<float>(sum_of(values.data(), values.size()) / count), 1);
  const double deviation = std::sqrt(sum_of_squares(values.data(), values.size()) / count);
  if (deviation > 0) scale_by(values.data(), values.size(), 0, static_cast<float>(1 / deviation));
}

}  // namespace trireme::data
