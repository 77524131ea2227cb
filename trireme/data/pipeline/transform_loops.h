// SPDX-License-Identifier: Apache-2.0
// The loops of Transform over the values of a sample, compiled once per instruction set.
#pragma once

#include <cstdint>
#include <span>

namespace trireme::data {

// The part of a plane that stays in it after a shift: it comes from (from_row, from_column) and goes to (to_row, to_column).
struct Window {
  std::int64_t from_row = 0, to_row = 0, rows = 0;
  std::int64_t from_column = 0, to_column = 0, columns = 0;
};

struct Plane {
  std::int64_t height = 0, width = 0;
  Window window;
  bool mirrored = false;  // each row, after the shift
};

// values = (stored - center) * factor inside the window, (0 - center) * factor around it.
void convert_plane(const Plane& plane, const std::uint8_t* stored, float center, float factor, float* values);
void convert_plane(const Plane& plane, const float* stored, float center, float factor, float* values);

// The same for one row with numbers of its own for each value.
void convert_row(const Plane& row, const std::uint8_t* stored, const float* center, const float* factor, float* values);
void convert_row(const Plane& row, const float* stored, const float* center, const float* factor, float* values);

// To mean 0 and deviation 1; only to mean 0 if they are all the same.
void standardize(std::span<float> values);

}  // namespace trireme::data
