// SPDX-License-Identifier: Apache-2.0
// Lays out named slices in one flat array.
#include "trireme/tensor/parameter_space.h"

#include <algorithm>
#include <utility>

namespace trireme {

std::size_t ParameterSpace::add(std::string name, Shape shape, double l2) {
  const std::int64_t count = shape.count();
  slices_.push_back({.name = std::move(name), .shape = std::move(shape), .offset = size_, .count = count, .l2 = l2});
  size_ += count;
  return slices_.size() - 1;
}

const Slice* ParameterSpace::find(std::string_view name) const {
  const auto found = std::find_if(slices_.begin(), slices_.end(), [&](const Slice& slice) { return slice.name == name; });
  return found == slices_.end() ? nullptr : &*found;
}

}  // namespace trireme
