// SPDX-License-Identifier: Apache-2.0
// Copies between layouts; small tensors, so plain loops are enough.
#include "trireme/engine/kernels/layout_copies.h"

#include <algorithm>
#include <cstring>

#include "trireme/base/parallel.h"

namespace trireme::engine {
namespace {

std::int64_t padded(const SegmentCopy& copy, std::int64_t segment) { return (segment + copy.block - 1) / copy.block * copy.block; }

// The lane of each real channel among the padded ones.
std::vector<std::int64_t> lanes_of(const SegmentCopy& copy) {
  std::vector<std::int64_t> lanes;
  std::int64_t start = 0;
  for (const std::int64_t segment : copy.segments) {
    for (std::int64_t c = 0; c < segment; ++c) lanes.push_back(start + c);
    start += padded(copy, segment);
  }
  return lanes;
}

std::int64_t padded_channels(const SegmentCopy& copy) {
  std::int64_t sum = 0;
  for (const std::int64_t segment : copy.segments) sum += padded(copy, segment);
  return sum;
}

// Calls body(plain index of a (sample, channel), blocked index of the same) for every real channel.
template <class Body>
void for_each_channel(const SegmentCopy& copy, const Body& body) {
  const std::vector<std::int64_t> lanes = lanes_of(copy);
  const auto channels = static_cast<std::int64_t>(lanes.size());
  const std::int64_t stride = padded_channels(copy);
  parallel_ranges(copy.batch * channels, channels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t lane = lanes[static_cast<std::size_t>(i % channels)];
      body(i * copy.pixels, (i / channels * stride + lane / copy.block * copy.block) * copy.pixels + lane % copy.block);
    }
  });
}

}  // namespace

void copy_to_plain(const SegmentCopy& copy, const float* blocked, float* plain) {
  for_each_channel(copy, [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t p = 0; p < copy.pixels; ++p) plain[to + p] = blocked[from + p * copy.block];
  });
}

void copy_to_blocked(const SegmentCopy& copy, const float* plain, float* blocked) {
  std::fill_n(blocked, copy.batch * padded_channels(copy) * copy.pixels, 0.0F);
  for_each_channel(copy, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = 0; p < copy.pixels; ++p) blocked[to + p * copy.block] = plain[from + p];
  });
}

void copy_rows(const RowCopy& copy, const float* from, float* to) {
  parallel_ranges(copy.rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      std::memcpy(to + row * copy.to_stride, from + row * copy.from_stride, static_cast<std::size_t>(copy.count) * sizeof(float));
  });
}

}  // namespace trireme::engine
