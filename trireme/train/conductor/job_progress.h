// SPDX-License-Identifier: Apache-2.0
// How far a job has come: steps and epochs that were reported, checkpoints that were written, and what the nodes know of both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/checkpoint/checkpoint_clock.h"
#include "trireme/train/conductor/job_actions.h"

namespace trireme::train {

// What has to be done is appended to `out`.
class JobProgress {
 public:
  JobProgress(const Cursor& start, Seconds checkpoint_interval, const Clock& clock);

  const Cursor& cursor() const { return cursor_; }
  const std::filesystem::path& checkpoint() const { return checkpoint_; }  // the last one that was written
  const std::optional<Error>& checkpoint_error() const {
    return checkpoint_error_;
  }  // why the last one could not be kept, unless the disk refused it

  void begin_generation() { checkpoint_clock_.begin_generation(); }
  void on_entered(const Cursor& cursor, Actions& out);  // steps that no member has any more are repeated
  // Workers report a step or epoch again when the first report may be lost. False: it was known.
  bool on_step(const StepRecord& record, Actions& out);
  bool on_epoch(const EpochRecord& record, Actions& out);
  void on_finished(const Cursor& cursor) { cursor_ = cursor; }
  void on_checkpoint(const CheckpointRecord& record, Actions& out);
  void on_checkpoint_failed(const std::optional<Error>& error, Actions& out);

  bool start_checkpoint_if_due();  // true: the members are to be asked for one
  void acknowledge(const std::vector<std::string>& members, Actions& out);

 private:
  const Clock& clock_;
  Cursor cursor_;
  CheckpointClock checkpoint_clock_;
  std::filesystem::path checkpoint_;
  std::optional<Error> checkpoint_error_;
  Seconds acknowledged_at_{};
  std::int64_t acknowledged_step_ = -1;
};

}  // namespace trireme::train
