// SPDX-License-Identifier: Apache-2.0
// Workers and links that hold the others up, described.
#pragma once

#include "trireme/observe/records/field.h"

namespace trireme::observe {

// A measurement of the workers' speeds: one that holds the others up, or none.
struct StragglerRecord {
  int rank = 0;  // -1: none is slow
  double slowness = 1;
  double share = 0;
};

// The coordinator writes the node and the host in place of the rank.
template <Described<StragglerRecord> R, class Visit>
void describe(R& r, Visit&& visit) {
  visit(Field{.name = "rank", .is_in_files = false}, r.rank);
  visit(Field{.name = "slowness", .meaning = "how many times as long it takes per sample as the median worker"}, r.slowness);
  visit(Field{.name = "share", .meaning = "of a batch that it gets from now on; with `ps`: of recent work that it has done"}, r.share);
}

// A worker whose link holds the others up.
struct SlowLinkRecord {
  int rank = 0;
  double bytes_per_second = 0;
  double typical = 0;
  double wait_share = 0;
};

template <Described<SlowLinkRecord> R, class Visit>
void describe(R& r, Visit&& visit) {
  visit(Field{.name = "rank", .is_in_files = false}, r.rank);
  visit(Field{.name = "bytes_per_second", .unit = "B/s", .meaning = "of its best connection, in the slower direction, as TCP measures it"},
        r.bytes_per_second);
  visit(Field{.name = "typical", .unit = "B/s", .meaning = "the median worker's"}, r.typical);
  visit(Field{.name = "wait_share", .meaning = "of the steps' time, waited for exchange"}, r.wait_share);
}

}  // namespace trireme::observe
