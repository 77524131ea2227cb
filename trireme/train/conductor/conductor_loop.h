// SPDX-License-Identifier: Apache-2.0
// One run of the conductor: feeds a JobMachine from the coordinator, the launcher and the user, and carries out its actions.
#pragma once

#include <atomic>
#include <deque>
#include <functional>

#include "trireme/train/conductor/conductor.h"
#include "trireme/train/conductor/job_machine.h"

namespace trireme::train {

class ConductorLoop {
 public:
  // All must outlive it.
  ConductorLoop(Conductor& conductor, coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
                const std::atomic<int>& stop);
  SessionResult run();

 private:
  void receive();
  void receive(const coord::Event& event);
  void receive_message(const coord::Event& event);
  void feed_pending();
  void feed_inbox();
  void feed_stop();
  void feed_heartbeats();
  Heartbeats heartbeats() const;
  void feed(const JobEvent& event);

  void acknowledge_written();
  void acknowledge(const Acknowledge& action);

  void carry_out(const AnnounceGeneration& action);
  void carry_out(const SendRequest& action);
  void carry_out(const Acknowledge& action);
  void carry_out(const StartNode& action);
  void carry_out(const DismissNode& action) { coordinator_.dismiss(action.node); }
  void carry_out(const DismissAll& /*action*/) { coordinator_.dismiss_all(); }
  void carry_out(const Say& action) { options_.say(action.line); }
  void carry_out(const WriteRecord& action) const;
  void carry_out(const WriteEvent& action) const;
  void carry_out(const Observe<StepRecord>& action) { observer_.step(action.record); }
  void carry_out(const Observe<EpochRecord>& action) { observer_.epoch(action.record); }
  void carry_out(const Observe<ServerRecord>& action) { observer_.server(action.record); }
  void carry_out(const Observe<SwitchRecord>& action) { observer_.switched(action.record); }
  void carry_out(const Observe<CheckpointRecord>& action) { observer_.checkpoint(action.record); }
  void carry_out(const Observe<Score>& action) { observer_.test(action.record); }
  [[noreturn]] static void carry_out(const Fail& action);
  void carry_out(const Complete& action) { result_ = action.result; }

  Conductor& conductor_;
  coord::Coordinator& coordinator_;
  const ConductorOptions& options_;
  Observer& observer_;
  const std::atomic<int>& stop_;
  const Clock& clock_;
  JobMachine machine_;
  struct Unwritten {
    Acknowledge action;
    std::function<bool()> is_written;
  };
  std::deque<Unwritten> unwritten_;
  bool is_stop_fed_ = false;
  Seconds heartbeats_fed_at_{};
  SessionResult result_;
};

}  // namespace trireme::train
