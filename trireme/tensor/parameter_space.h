// SPDX-License-Identifier: Apache-2.0
// One flat parameter space: all values of a kind are one contiguous float array with named slices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/tensor/shape.h"

namespace trireme {

struct Slice {
  std::string name;  // "conv1/kernel"
  Shape shape;       // canonical: kernels out x in x height x width, dense out x in
  std::int64_t offset = 0;
  std::int64_t count = 0;
  double l2 = 0;  // the loss has l2 * sum(w^2) for this slice
};

// Slices lie one after another without gaps, in the model's forward order, so backward finishes them from the end.
class ParameterSpace {
 public:
  std::size_t add(std::string name, Shape shape, double l2 = 0);

  std::int64_t size() const { return size_; }
  const std::vector<Slice>& slices() const { return slices_; }
  const Slice& operator[](std::size_t index) const { return slices_[index]; }
  const Slice* find(std::string_view name) const;

 private:
  std::vector<Slice> slices_;
  std::int64_t size_ = 0;
};

}  // namespace trireme
