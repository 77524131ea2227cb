// SPDX-License-Identifier: Apache-2.0
// Labelled samples in memory, all of one shape.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/tensor/shape.h"

namespace trireme::data {

struct SampleSet {
  Shape shape;  // of one sample
  std::int64_t classes = 0;
  std::vector<float> values;  // samples x shape, plain row-major
  std::vector<std::int32_t> labels;

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  std::span<const float> sample(std::int64_t index) const {
    const auto count = static_cast<std::size_t>(shape.count());
    return std::span(values).subspan(static_cast<std::size_t>(index) * count, count);
  }
};

// Samples 0 to count - 1 of SyntheticDigits(seed).
SampleSet synthetic_digits(std::uint64_t seed, std::int64_t count);

}  // namespace trireme::data
