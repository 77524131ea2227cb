// SPDX-License-Identifier: Apache-2.0
// The extents of a tensor, outermost first.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace trireme {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  std::size_t rank() const { return extents_.size(); }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  std::int64_t count() const {  // of elements; 1 for a scalar
    std::int64_t product = 1;
    for (const std::int64_t extent : extents_) product *= extent;
    return product;
  }
  auto begin() const { return extents_.begin(); }
  auto end() const { return extents_.end(); }
  bool operator==(const Shape&) const = default;

  std::string to_string() const;  // "64x12x12"

 private:
  std::vector<std::int64_t> extents_;
};

}  // namespace trireme
