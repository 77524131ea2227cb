// SPDX-License-Identifier: Apache-2.0
// How pushes of many workers become updates, and who waits for whom.
#pragma once

#include <cstdint>

#include "trireme/comm/communicator.h"

namespace trireme::ps {

// async: every push is an update of its own, no worker waits. ssp, dssp: the same, but none gets further ahead of the slowest than a
// bound, which dssp moves. bsp: the pushes of all workers are summed to one update, and all wait for it.
enum class Mode { async, bsp, ssp, dssp };

struct Rules {
  Mode mode = Mode::async;
  std::int64_t staleness = 3;       // ssp: 0 is the same as bsp
  std::int64_t staleness_min = 3;   // dssp
  std::int64_t staleness_max = 15;  // dssp
  std::int64_t backup_workers = 0;  // bsp: an update takes the pushes of all workers but so many, and drops those that come later
  bool damped = false;              // all but bsp: the learning rate of a push is divided by 1 + its staleness
  comm::WireType wire = comm::WireType::f32;

  bool sums() const { return mode == Mode::bsp || (mode == Mode::ssp && staleness == 0); }  // pushes to one update
};

}  // namespace trireme::ps
