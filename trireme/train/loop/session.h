// SPDX-License-Identifier: Apache-2.0
// A training that keeps checkpoints: it can be interrupted at any moment and continued as if nothing had happened.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/train/checkpoint/checkpoint_clock.h"
#include "trireme/train/checkpoint/checkpoint_keeper.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/records/session_result.h"

namespace trireme::train {

class Session {
 public:
  // All must outlive the session.
  Session(Trainer& trainer, CheckpointKeeper& checkpoints, const Clock& clock)
      : trainer_(trainer), checkpoints_(checkpoints), clock_(clock) {}

  struct Options {
    double checkpoint_seconds = 60;  // 0: only at the end and when interrupted
    bool tests = true;               // are there test samples?
  };
  // Trains until the end or until `stop` is not 0, which is looked at after every step. Either way a checkpoint is written last; if the
  // disk refuses that one, the keeper still has it.
  SessionResult run(Observer& observer, const Options& options, const std::atomic<int>& stop);

 private:
  void save(Observer& observer, CheckpointClock& due);
  Requests advance(Observer& observer);

  Trainer& trainer_;
  CheckpointKeeper& checkpoints_;
  const Clock& clock_;
  std::filesystem::path last_;
  std::int64_t saved_step_ = -1;
};

}  // namespace trireme::train
