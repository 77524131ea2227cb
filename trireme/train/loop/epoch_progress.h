// SPDX-License-Identifier: Apache-2.0
// How far the epochs have come: what steps add up to, the record of each epoch, and when the last one is over.
#pragma once

#include <cstdint>
#include <optional>

#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/engine/executor.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/job.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/records/session_result.h"

namespace trireme::train {

class EpochProgress {
 public:
  // Of epochs of `samples`. All must outlive it.
  EpochProgress(const Job& job, std::int64_t samples, Cursor& cursor) : job_(job), samples_(samples), cursor_(cursor) {}

  std::optional<Ending> finished() const;  // all epochs are done, or early stopping ended them
  bool is_epoch_over() const { return cursor_.epoch_offset >= samples_; }
  std::int64_t samples() const { return samples_; }

  // A step of all workers, the one after the cursor.
  struct Step {
    engine::Outcome outcome;
    bool is_skipped = false;  // then its samples count, and nothing else of its outcome
    double seconds = 0;
    double exposed_seconds = 0;
    double exchange_seconds = 0;
  };
  void count(const Step& step);
  // Of the step that was counted last.
  StepRecord step_record(const Step& step, double learning_rate, std::int64_t workers) const;

  // The epoch that is over, without its scores. `times`: of its batches.
  EpochRecord epoch_record(const data::StreamTimes& times, double learning_rate);
  // `evaluation`: of the epoch; of no samples: there is none. True: it is the best so far.
  bool begin_next_epoch(const Score& evaluation);

 private:
  bool stopped_early() const;
  bool watch(const Score& evaluation);

  const Job& job_;
  std::int64_t samples_;
  Cursor& cursor_;
  double exposed_seconds_ = 0, exchange_seconds_ = 0;  // of the epoch so far
};

}  // namespace trireme::train
