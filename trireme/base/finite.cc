// SPDX-License-Identifier: Apache-2.0
// Without their signs, floats are in the order of their bits: infinity above all numbers, NaN above infinity.
#include "trireme/base/finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "trireme/base/vectorized.h"

namespace trireme {
namespace {

constexpr std::uint32_t kInfinity = 0x7f800000;

TRIREME_VECTORIZED std::uint32_t largest_bits(const float* values, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffU);
  return largest;
}

}  // namespace

float largest_magnitude(std::span<const float> values) {
  return std::bit_cast<float>(std::min(largest_bits(values.data(), values.size()), kInfinity));
}

}  // namespace trireme
