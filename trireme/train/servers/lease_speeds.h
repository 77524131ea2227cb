// SPDX-License-Identifier: Apache-2.0
// How fast workers are that work by lease, and which one is much slower than the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "trireme/train/records/observer.h"

namespace trireme::train {

class LeaseSpeeds {
 public:
  explicit LeaseSpeeds(std::size_t workers) : expected_(workers) {}

  // A worker's step. Now and then what a look at all of them finds: no straggler, or, if it was the same one the last time, the straggler;
  // its share is what it has done of all.
  std::optional<StragglerRecord> count(int worker, std::int64_t samples, double seconds);

 private:
  struct Worker {
    std::int64_t steps = 0;
    double samples = 0, seconds = 0;
  };
  bool is_due() const;
  std::optional<StragglerRecord> look();

  std::size_t expected_;           // workers: one that has not reported may be the slow one
  std::map<int, Worker> workers_;  // since the last look
  int straggler_ = -1;             // at the last look
};

}  // namespace trireme::train
