// SPDX-License-Identifier: Apache-2.0
// Who may go on and who waits for slower workers: bounded staleness, with a fixed bound (ssp) or one that is chosen anew (dssp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/ps/rules.h"

namespace trireme::ps {

// How many more pushes the fastest worker should make before it waits, so that it waits shortest: r in [0, r_max] of the pair (r, k) that
// minimises |last_fast + r * interval_fast - (last_slow + (k + 1) * interval_slow)|; of equal ones the smallest r.
struct PushTimes {
  double last = 0;      // when the latest push came
  double interval = 0;  // between two pushes
};
std::int64_t further_pushes(const PushTimes& fast, const PushTimes& slow, std::int64_t r_max);

// Workers are numbers from 0. Not for several threads at once. Pushes of a worker are counted from the beginning of a stretch.
class Pace {
 public:
  Pace(const Rules& rules, int workers);

  // A push of the worker has come whole, at this time.
  void pushed(int worker, Seconds now);
  // There is no more work for it in this stretch: no worker waits for it any more.
  void retire(int worker);

  // Whether the worker may have the values that follow its latest push, and compute with them. async: always. Once true it
  // stays true until its next push.
  bool may_go_on(int worker) const;
  // How far it would be ahead of the slowest one that is at work, if its latest push counts: 0 for the slowest.
  std::int64_t ahead(int worker) const;
  std::int64_t pushes(int worker) const;
  int active() const;  // workers that are not retired
  bool is_retired(int worker) const;

 private:
  struct Worker {
    std::int64_t pushes = 0;
    bool retired = false;
    bool may_go_on = true;
    std::int64_t allowance = 0;     // dssp: how often it may still go on although it is far ahead
    std::vector<double> intervals;  // the last few, from when it went on to its push; their median counts
    double last = 0;                // when its latest push came
    std::optional<double> since;    // when it went on, if that is known
  };
  Worker& of(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  const Worker& of(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }
  bool decide(Worker& worker);
  bool is_near(const Worker& worker) const;
  std::int64_t allowance_of(const Worker& worker) const;
  void release(std::optional<Seconds> now);
  std::vector<std::int64_t> active_pushes() const;
  std::int64_t slowest() const;    // its pushes
  std::int64_t reference() const;  // pushes of whom others wait for

  Rules rules_;
  std::vector<Worker> workers_;
};

}  // namespace trireme::ps
