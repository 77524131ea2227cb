// SPDX-License-Identifier: Apache-2.0
// Steps, with a checkpoint now and then.
#include "trireme/train/loop/session.h"

#include "trireme/base/error.h"

namespace trireme::train {

void Session::save(Observer& observer, CheckpointClock& due) {
  if (trainer_.cursor().step == saved_step_) return;
  checkpoints_.drop();  // its memory is needed for the state as it is now
  const std::optional<CheckpointRecord> record = checkpoints_.save(trainer_.checkpoint());
  if (!record) return due.on_failed();
  due.on_written();
  last_ = record->directory;
  saved_step_ = record->step;
  observer.checkpoint(*record);
}

// Names the checkpoint from before a step that is not a number.
Requests Session::advance(Observer& observer) {
  try {
    return trainer_.advance(observer);
  } catch (const Error& error) {  // thrown again, with the last good checkpoint
    if (error.code() != out_of_range) throw;
    throw Error{out_of_range, "{}; {}", error.what(),
                last_.empty() ? "no checkpoint was kept yet" : "the last good checkpoint is " + last_.string()};
  }
}

SessionResult Session::run(Observer& observer, const Options& options, const std::atomic<int>& stop) {
  CheckpointClock due(Seconds(options.checkpoint_seconds), clock_);
  due.begin_generation();
  while (!trainer_.finished() && stop == 0) {
    if (advance(observer).stop) break;
    if (due.is_due()) save(observer, due);
  }
  save(observer, due);
  SessionResult result{.ending = Ending::interrupted, .checkpoint = last_};
  const std::optional<Ending> finished = trainer_.finished();
  if (!finished) {
    if (stop == 0) result.ending = Ending::until;
    return result;
  }
  result.ending = *finished;
  if (options.tests) {
    result.test = trainer_.test();
    observer.test(result.test);
  }
  return result;
}

}  // namespace trireme::train
