// SPDX-License-Identifier: Apache-2.0
// Loops over plain arrays: sums, dropout, ReLU's gradient, and copies between layouts with holes.
#pragma once

#include <cstdint>
#include <vector>

#include "trireme/engine/blocked_kernels.h"

namespace trireme::engine {

void plain_sum(const std::vector<const float*>& terms, std::int64_t count, float* into);  // `into` may be a term

// In place, on samples x count; element e of a sample as in DropoutMask.
void plain_dropout(const DropoutMask& mask, std::int64_t samples, std::int64_t count, float* data);

// out = y > 0 ? gradient : 0; out may be the gradient.
void plain_relu_backward(const float* y, const float* gradient, std::int64_t count, float* out);

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
