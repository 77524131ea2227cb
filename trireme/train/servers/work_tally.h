// SPDX-License-Identifier: Apache-2.0
// Workers' reports of their leases, as updates: pushes that were summed count as one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trireme/ps/server.h"

namespace trireme::train {

class WorkTally {
 public:
  struct Sums {
    bool are_made = false;  // otherwise every push is an update of its own
    int parts = 1;          // of an update that is not a whole batch (backup workers)
  };
  // The updates that are complete with these reports, in order. A lease without a report, or with one that was not finite, is taken to be
  // as good as the one reported before it.
  std::vector<ps::WorkDone> add(const std::vector<ps::WorkDone>& reports, const Sums& sums);
  // The others: no more reports will come. In step an update that one worker reports was made with the parts of all.
  std::vector<ps::WorkDone> take_rest();

  struct Time {
    double compute = 0, wait = 0;  // of all workers
  };
  Time take_time() { return std::exchange(time_, {}); }

 private:
  struct Update {
    ps::WorkDone sum;
    int parts = 0;
  };
  std::map<std::int64_t, Update> updates_;  // by round; -1: of no round
  Time time_;
  ps::WorkDone last_;  // that was reported
};

}  // namespace trireme::train
