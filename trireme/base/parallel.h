// SPDX-License-Identifier: Apache-2.0
// Loops over the cores, on the same OpenMP threads that oneDNN uses, so the two never fight for them.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace trireme {

// Sets the number of threads for loops and oneDNN primitives of the calling thread while it lives.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadScope() { omp_set_num_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// Calls body(begin, end) on about equal ranges of [0, count), at least `grain` long, one a thread.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, const Body& body) {
  const std::int64_t parts = std::min<std::int64_t>(omp_get_max_threads(), (count + grain - 1) / std::max<std::int64_t>(grain, 1));
  if (parts <= 1) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
  for (std::int64_t part = 0; part < parts; ++part) body(count * part / parts, count * (part + 1) / parts);
}

}  // namespace trireme
