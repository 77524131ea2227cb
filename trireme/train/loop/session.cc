// SPDX-License-Identifier: Apache-2.0
// Steps, with a checkpoint now and then.
#include "trireme/train/loop/session.h"

#include "trireme/base/error.h"

namespace trireme::train {

void Session::save(Observer& observer) {
  if (trainer_.cursor().step == saved_step_) return;
  const Seconds start = clock_.now();
  last_ = checkpoints_.save(trainer_.checkpoint());
  saved_step_ = trainer_.cursor().step;
  observer.checkpoint({.step = saved_step_, .directory = last_, .seconds = (clock_.now() - start).count()});
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
  Seconds last_save = clock_.now();
  while (!trainer_.finished() && stop == 0) {
    if (advance(observer).stop) break;
    if (options.checkpoint_seconds <= 0 || (clock_.now() - last_save).count() < options.checkpoint_seconds) continue;
    save(observer);
    last_save = clock_.now();
  }
  save(observer);
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
