// SPDX-License-Identifier: Apache-2.0
// What an epoch of a training reports, described.
#pragma once

#include <cstdint>

#include "trireme/observe/records/step_record.h"

namespace trireme::observe {

struct EpochRecord {
  std::int64_t epoch = 0;  // the first is 0
  Score train;
  double penalty = 0;
  double learning_rate = 0;
  Score validation;    // after the epoch, if samples are held out for it
  Score test;          // after the epoch, only if there is no validation
  double seconds = 0;  // of training, without the evaluation
  double samples_per_second = 0;
  double input_wait_seconds = 0;
  double background_seconds = 0;
  double exposed_seconds = 0;
  double exchange_seconds = 0;
};

template <Described<EpochRecord> R, class Visit>
void describe(R& r, Visit&& visit) {
  const bool has_validation = r.validation.samples > 0, has_test = r.test.samples > 0;
  visit(Field{.name = "epoch", .meaning = "from 1", .is_from_one = true}, r.epoch);
  visit(Field{.name = "samples", .unit = "samples", .meaning = "trained on in it"}, r.train.samples);
  visit(Field{.name = "loss", .meaning = "mean data loss over the epoch, while the parameters changed"}, r.train.loss);
  visit(Field{.name = "penalty", .meaning = "L2 regularisation in the last step; `loss + penalty` is what was minimised"}, r.penalty);
  visit(Field{.name = "accuracy", .unit = "share, 0 to 1", .meaning = "over the epoch, while the parameters changed"}, r.train.accuracy);
  visit(Field{.name = "learning_rate", .meaning = "of the last step"}, r.learning_rate);
  visit(Field{.name = "seconds", .unit = "s", .meaning = "of training, without validation and checkpoints"}, r.seconds);
  visit(Field{.name = "samples_per_second", .unit = "samples/s", .meaning = "`samples / seconds`"}, r.samples_per_second);
  visit(Field{.name = "input_wait_seconds", .unit = "s", .meaning = "of `seconds`: waiting for data"}, r.input_wait_seconds);
  visit(
      Field{
          .name = "background_seconds", .unit = "s", .meaning = "of work by other threads on reading and preparing data, summed over them"},
      r.background_seconds);
  visit(Field{.name = "exposed_seconds", .unit = "s", .meaning = "sum over the steps"}, r.exposed_seconds);
  visit(Field{.name = "exchange_seconds", .unit = "s", .meaning = "sum over the steps"}, r.exchange_seconds);
  visit(Field{.name = "validation_loss",
              .meaning = "after the epoch, on the validation samples; absent if there are none",
              .is_present = has_validation},
        r.validation.loss);
  visit(Field{.name = "validation_accuracy", .unit = "share, 0 to 1", .meaning = "the same", .is_present = has_validation},
        r.validation.accuracy);
  visit(Field{.name = "test_loss",
              .meaning = "after the epoch, on the test samples; only if there are no validation samples",
              .is_present = has_test},
        r.test.loss);
  visit(Field{.name = "test_accuracy", .unit = "share, 0 to 1", .meaning = "the same", .is_present = has_test}, r.test.accuracy);
  visit(Field{.name = "validation_samples", .is_in_files = false}, r.validation.samples);
  visit(Field{.name = "test_samples", .is_in_files = false}, r.test.samples);
}

}  // namespace trireme::observe
