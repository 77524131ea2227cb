// SPDX-License-Identifier: Apache-2.0
// Memory for what is on its way, used again and again: fresh pages are expensive.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace trireme::ps {

// All buffers are of one size. A buffer comes back when its last owner lets go of it, from any thread.
class Buffers : public std::enable_shared_from_this<Buffers> {
 public:
  explicit Buffers(std::size_t values) : values_(values) {}

  // The one that came back last: most of it is in the cache still.
  std::shared_ptr<float[]> take() {
    std::unique_ptr<float[]> buffer;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        buffer = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (buffer == nullptr) buffer.reset(new float[values_]);
    return {buffer.release(), [self = shared_from_this()](float* back) { self->put(back); }};
  }

 private:
  void put(float* buffer) {
    const std::lock_guard lock(mutex_);
    free_.emplace_back(buffer);
  }

  std::mutex mutex_;
  const std::size_t values_;
  std::vector<std::unique_ptr<float[]>> free_;
};

}  // namespace trireme::ps
