// SPDX-License-Identifier: Apache-2.0
// Copies between layouts that oneDNN has no reorder for: with holes between channels, and parts of rows.
#pragma once

#include <cstdint>
#include <vector>

namespace trireme::engine {

// Between a plain tensor and a blocked one made of segments, each padded to whole blocks.
struct SegmentCopy {
  std::int64_t batch = 0;
  std::int64_t pixels = 0;
  int block = 0;
  std::vector<std::int64_t> segments;
};
void copy_to_plain(const SegmentCopy& copy, const float* blocked, float* plain);
void copy_to_blocked(const SegmentCopy& copy, const float* plain, float* blocked);

// rows x count floats between arrays of different row length.
struct RowCopy {
  std::int64_t rows = 0;
  std::int64_t count = 0;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
};
void copy_rows(const RowCopy& copy, const float* from, float* to);

}  // namespace trireme::engine
