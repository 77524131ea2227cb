// SPDX-License-Identifier: Apache-2.0
// One mapping that holds every buffer of an executor: fresh pages are expensive, so they are taken once.
#pragma once

#include <cstddef>

namespace trireme::engine {

class Arena {
 public:
  Arena() = default;
  explicit Arena(std::size_t bytes);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace trireme::engine
