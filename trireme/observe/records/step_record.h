// SPDX-License-Identifier: Apache-2.0
// What a step of a training reports, described.
#pragma once

#include <cstdint>
#include <vector>

#include "trireme/observe/records/field.h"

namespace trireme::observe {

// Of a whole set of samples.
struct Score {
  std::int64_t samples = 0;  // 0: not measured
  double loss = 0;           // mean data loss
  double accuracy = 0;       // share of samples with the right answer
};

template <Described<Score> R, class Visit>
void describe(R& r, Visit&& visit) {
  visit(Field{.name = "samples", .unit = "samples", .meaning = "tested on"}, r.samples);
  visit(Field{.name = "loss", .meaning = "mean data loss"}, r.loss);
  visit(Field{.name = "accuracy", .unit = "share, 0 to 1", .meaning = "with the right answer"}, r.accuracy);
}

// Steps that changed nothing, since a loss or a gradient was not finite.
struct Skips {
  std::int64_t steps = 0;
  std::vector<int> ranks;  // whose were not; none: each was, and their sum was not
};

struct StepRecord {
  std::int64_t step = 0;
  std::int64_t epoch = 0;  // the first is 0
  std::int64_t samples_seen = 0;
  std::int64_t samples_total = 0;
  Score batch;       // of this step alone
  Score epoch_mean;  // since the epoch began
  double learning_rate = 0;
  double samples_per_second = 0;  // since the epoch began
  std::int64_t workers = 1;
  double seconds = 0;  // of this step, at the worker that reports
  double input_wait_seconds = 0;
  double compute_seconds = 0;
  double exposed_seconds = 0;
  double optimizer_seconds = 0;
  double exchange_seconds = 0;
  int worker = -1;  // whose push it was; -1: of all workers
  std::int64_t staleness = 0;
  double noise_scale = 0;  // 0: not measured in this step
  Skips skips;             // this step; out of step with the others: single workers' parts of it, or of those before it
};

template <Described<StepRecord> R, class Visit>
void describe(R& r, Visit&& visit) {
  visit(Field{.name = "step", .unit = "steps", .meaning = "since the beginning, this one included; the first is 1"}, r.step);
  visit(Field{.name = "epoch", .meaning = "from 1", .is_from_one = true}, r.epoch);
  visit(Field{.name = "samples_seen", .unit = "samples", .meaning = "since the beginning, this step's included"}, r.samples_seen);
  visit(Field{.name = "samples", .unit = "samples", .meaning = "of this step"}, r.batch.samples);
  visit(Field{.name = "loss", .meaning = "mean data loss of this step's samples, without the penalty", .series = "loss"}, r.batch.loss);
  visit(Field{.name = "accuracy", .unit = "share, 0 to 1", .meaning = "of this step's samples with the right answer", .series = "accuracy"},
        r.batch.accuracy);
  visit(Field{.name = "learning_rate", .meaning = "of this step", .series = "learning_rate"}, r.learning_rate);
  visit(Field{.name = "seconds", .unit = "s", .meaning = "from the end of the step before to the end of this one"}, r.seconds);
  visit(Field{.name = "input_wait_seconds", .unit = "s", .meaning = "of them: waiting for data", .part = Part::of_step},
        r.input_wait_seconds);
  visit(Field{.name = "compute_seconds", .unit = "s", .meaning = "of them: forward and backward", .part = Part::of_step},
        r.compute_seconds);
  visit(Field{.name = "exposed_seconds",
              .unit = "s",
              .meaning = "of them: waiting for other workers with nothing to compute",
              .part = Part::of_step},
        r.exposed_seconds);
  visit(Field{.name = "optimizer_seconds", .unit = "s", .meaning = "of them: the update of the parameters", .part = Part::of_step},
        r.optimizer_seconds);
  visit(
      Field{.name = "exchange_seconds",
            .unit = "s",
            .meaning = "the whole exchange, exposed or hidden behind computing; with asynchronous `ps` only the exposed part is known here",
            .part = Part::beside},
      r.exchange_seconds);
  visit(Field{.name = "worker", .meaning = "only asynchronous `ps`: rank of the worker whose push it was", .is_present = r.worker >= 0},
        r.worker);
  visit(Field{.name = "staleness",
              .meaning = "only asynchronous `ps`: updates by other workers since its parameters were pulled",
              .is_present = r.worker >= 0},
        r.staleness);
  visit(
      Field{.name = "noise_scale",
            .unit = "samples",
            .meaning = "only steps that measured it (`allreduce`, every 16th, if enabled): the gradient noise scale, smoothed; `null`: the "
                       "gradient is lost in the noise",
            .is_present = r.noise_scale != 0},
      r.noise_scale);
  visit(Field{.name = "skipped",
              .meaning = "only if steps were skipped (`train.on_non_finite = \"skip\"`): 1 for this step, whose `loss` and `accuracy` are "
                         "then the epoch's so far; `local_sgd`: skipped steps of single workers since they last agreed",
              .is_present = r.skips.steps > 0},
        r.skips.steps);
  visit(Field{.name = "faulty_ranks",
              .meaning = "only with `skipped`: ranks whose loss or gradients were not finite, e.g. \"1 3\"; empty: each worker's were "
                         "finite, their sum was not",
              .is_present = r.skips.steps > 0},
        r.skips.ranks);
  // For the console only.
  visit(Field{.name = "samples_total", .is_in_files = false}, r.samples_total);
  visit(Field{.name = "epoch_samples", .is_in_files = false}, r.epoch_mean.samples);
  visit(Field{.name = "epoch_loss", .is_in_files = false}, r.epoch_mean.loss);
  visit(Field{.name = "epoch_accuracy", .is_in_files = false}, r.epoch_mean.accuracy);
  visit(Field{.name = "samples_per_second", .is_in_files = false}, r.samples_per_second);
  visit(Field{.name = "workers", .is_in_files = false}, r.workers);
}

}  // namespace trireme::observe
