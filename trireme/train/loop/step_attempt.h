// SPDX-License-Identifier: Apache-2.0
// A step while it runs: when its batch was asked for, and what must be undone if it does not come to its end.
#pragma once

#include <utility>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/train/team/replica.h"

namespace trireme::train {

// Forward changes batch-norm statistics before it is known whether the step counts. Without commit() they are restored: the step will be
// done again, by this team or by another one.
class StepAttempt {
 public:
  // The batch that was asked for at `asked` is here now. All must outlive the attempt.
  StepAttempt(Replica& replica, const Clock& clock, Seconds asked)
      : replica_(replica), clock_(clock), asked_(asked), received_(clock.now()), states_before_(replica.states()) {}
  ~StepAttempt() {
    if (!is_committed_) restore();
  }
  StepAttempt(const StepAttempt&) = delete;
  StepAttempt& operator=(const StepAttempt&) = delete;

  // Statistics before this step; a strategy that learns in it that the one before was skipped corrects them.
  std::vector<float>& states_before() { return states_before_; }
  // The step is over. Of one that was skipped nothing is left.
  void commit(bool is_skipped) {
    if (is_skipped) restore();
    is_committed_ = true;
  }

  double batch_wait() const { return (received_ - asked_).count(); }
  double seconds() const { return (clock_.now() - asked_).count(); }  // until now, the wait included

 private:
  void restore() { replica_.states() = states_before_; }

  Replica& replica_;
  const Clock& clock_;
  Seconds asked_, received_;
  std::vector<float> states_before_;
  bool is_committed_ = false;
};

}  // namespace trireme::train
