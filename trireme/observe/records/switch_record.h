// SPDX-License-Identifier: Apache-2.0
// What a switch from one strategy to another reports, described.
#pragma once

#include <cstdint>
#include <string>

#include "trireme/observe/records/field.h"

namespace trireme::observe {

// Reported when the first step of the other strategy begins.
struct SwitchRecord {
  std::int64_t step = 0;
  std::int64_t epoch = 0;  // the first is 0
  std::int64_t samples_seen = 0;
  std::string from, to;
  std::string why;
  bool slots_reset = false;
  bool state_was_shared = false;
  double learning_rate = 0;
  double rate_factor_before = 1;
  double rate_factor = 1;
  std::int64_t worker_batch_before = 0, worker_batch = 0;
  std::int64_t workers_before = 0, workers = 0;
  double seconds = 0;
  double drain_seconds = 0;
  double agree_seconds = 0;
  double state_seconds = 0;
  double begin_seconds = 0;
};

template <Described<SwitchRecord> R, class Visit>
void describe(R& r, Visit&& visit) {
  visit(Field{.name = "step", .unit = "steps", .meaning = "the last one before"}, r.step);
  visit(Field{.name = "epoch", .meaning = "from 1", .is_from_one = true}, r.epoch);
  visit(Field{.name = "samples_seen", .unit = "samples", .meaning = "the position in schedule, epoch and permutation continues"},
        r.samples_seen);
  visit(Field{.name = "from", .meaning = "strategy, in the short form"}, r.from);
  visit(Field{.name = "to", .meaning = "strategy, in the short form"}, r.to);
  visit(Field{.name = "why", .meaning = "`at 0.5`, `by hand`, or the reason of a policy"}, r.why);
  visit(Field{.name = "weights",
              .meaning = "`held by every node`: nothing was sent; or `sent to every node`",
              .words = {"sent to every node", "held by every node"}},
        r.state_was_shared);
  visit(Field{.name = "slots", .meaning = "`carried` or `reset`", .words = {"carried", "reset"}}, r.slots_reset);
  visit(Field{.name = "learning_rate", .meaning = "of the schedule at this point"}, r.learning_rate);
  visit(Field{.name = "rate_factor_before", .meaning = "by which it was multiplied: 1, or 1 / workers"}, r.rate_factor_before);
  visit(Field{.name = "rate_factor", .meaning = "by which it is multiplied from now on"}, r.rate_factor);
  visit(Field{.name = "worker_batch_before", .unit = "samples", .meaning = "maximum that a worker computed at once"},
        r.worker_batch_before);
  visit(Field{.name = "worker_batch", .unit = "samples", .meaning = "maximum that a worker computes at once from now on"}, r.worker_batch);
  visit(Field{.name = "workers_before", .unit = "workers", .meaning = "that computed"}, r.workers_before);
  visit(Field{.name = "workers", .unit = "workers", .meaning = "that compute from now on"}, r.workers);
  visit(Field{.name = "seconds", .unit = "s", .meaning = "without a step, the sum of the next four, at the lead node"}, r.seconds);
  visit(Field{.name = "drain_seconds", .unit = "s", .meaning = "until all had the same state"}, r.drain_seconds);
  visit(Field{.name = "agree_seconds", .unit = "s", .meaning = "on the next generation, all connected"}, r.agree_seconds);
  visit(Field{.name = "state_seconds", .unit = "s", .meaning = "comparing the nodes' states, and sending state to nodes that need it"},
        r.state_seconds);
  visit(Field{.name = "begin_seconds", .unit = "s", .meaning = "servers, streams, work"}, r.begin_seconds);
}

}  // namespace trireme::observe
