// SPDX-License-Identifier: Apache-2.0
// Where the time of one step of one node went, described; the same words for every strategy.
#pragma once

#include <cstdint>

#include "trireme/observe/records/field.h"

namespace trireme::observe {

struct StepAnatomy {
  std::int64_t step = 0;
  std::int64_t epoch = 0;  // the first is 0
  double start = 0;
  double seconds = 0;
  std::int64_t samples = 0;

  // These make up the step.
  double input_wait_seconds = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
  double exposed_seconds = 0;
  double optimizer_seconds = 0;
  double idle_seconds = 0;

  // These ran beside it.
  double read_seconds = 0;
  double decode_seconds = 0;
  double exchange_seconds = 0;

  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t staleness = 0;
};

inline constexpr int kTimeDigits = 3;  // of a part of a step: a table of 200,000 rows keeps no noise

template <Described<StepAnatomy> R, class Visit>
void describe(R& r, Visit&& visit) {
  const auto time = [&](std::string_view name, Part part, std::string_view meaning, auto& value) {
    visit(Field{.name = name, .unit = "s", .meaning = meaning, .combine = Combine::sum, .part = part, .digits = kTimeDigits}, value);
  };
  visit(Field{.name = "step",
              .unit = "steps",
              .meaning = "by lease (`ps`) a node's own steps, from the common number at the start of the stretch",
              .combine = Combine::max},
        r.step);
  visit(Field{.name = "epoch", .meaning = "from 1", .is_from_one = true}, r.epoch);
  visit(Field{.name = "start", .unit = "s", .meaning = "since 1970, on the coordinator's clock"}, r.start);
  time("seconds", Part::none, "from the end of the step before to the end of this one", r.seconds);
  visit(Field{.name = "samples", .unit = "samples", .meaning = "of this node", .combine = Combine::sum}, r.samples);
  time("input_wait_seconds", Part::of_step, "waiting for the next batch", r.input_wait_seconds);
  time("forward_seconds", Part::of_step, "computing, with the loss; waiting for a server's parameters in forward is not included",
       r.forward_seconds);
  time("backward_seconds", Part::of_step, "computing", r.backward_seconds);
  time("exposed_seconds", Part::of_step,
       "waiting for other nodes with nothing to compute: after backward (`allreduce`), for parameters that have not arrived (`ps`), "
       "averaging (`local_sgd`)",
       r.exposed_seconds);
  time("optimizer_seconds", Part::of_step, "the update, where the worker makes it (not `ps`: servers do)", r.optimizer_seconds);
  time("idle_seconds", Part::of_step,
       "everything else: waiting for work (`ps`), reporting to the coordinator, bookkeeping between two steps", r.idle_seconds);
  time("read_seconds", Part::beside,
       "work of the background threads until samples are in memory, summed over them (timed at one sample in sixteen)", r.read_seconds);
  time("decode_seconds", Part::beside, "the same, from there into a batch", r.decode_seconds);
  time("exchange_seconds", Part::beside,
       "the whole exchange, exposed or hidden: time in which at least one exchange was submitted and not finished", r.exchange_seconds);
  visit(Field{.name = "bytes_sent", .unit = "bytes", .meaning = "payload to other nodes, see below"}, r.bytes_sent);
  visit(Field{.name = "bytes_received", .unit = "bytes", .meaning = "payload from other nodes"}, r.bytes_received);
  visit(Field{.name = "staleness", .meaning = "updates by other workers since its parameters were pulled (`ps`)"}, r.staleness);
}

// Sum of the parts that make up the step.
inline double parts_of(const StepAnatomy& anatomy) {
  double sum = 0;
  describe(anatomy, [&](const Field& field, const auto& value) {
    if (field.part == Part::of_step) sum += static_cast<double>(value);
  });
  return sum;
}

}  // namespace trireme::observe
