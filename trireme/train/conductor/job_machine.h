// SPDX-License-Identifier: Apache-2.0
// The decisions of a job: which nodes are members, what is requested of them, when it ends. Events with their time go in, actions come out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/train/conductor/event_clock.h"
#include "trireme/train/conductor/failure_log.h"
#include "trireme/train/conductor/job_actions.h"
#include "trireme/train/conductor/job_events.h"
#include "trireme/train/conductor/job_options.h"
#include "trireme/train/conductor/job_progress.h"
#include "trireme/train/conductor/node_table.h"
#include "trireme/train/conductor/stall_watch.h"
#include "trireme/train/conductor/strategy_control.h"

namespace trireme::train {

// docs/protocols.md has the table of transitions.
enum class JobPhase {
  gathering,          // before the first generation
  entering,           // a generation is announced: members connect and agree on the state
  training,           // its lead has reported that all are in it
  pausing,            // the lead was asked for a pause at the next boundary, where another generation begins
  stopping,           // the lead was asked to end the training
  recovering,         // a member failed; in a moment enough is known to continue without it
  waiting_for_nodes,  // too few are here
  shutting_down,      // the nodes are dismissed
  finished,
  failed,
};
std::string_view name_of(JobPhase phase);

// It does no I/O and reads no clock: a loop feeds it from the network (ConductorLoop), a test from a list.
class JobMachine {
 public:
  JobMachine(const JobOptions& options, const Cursor& start, Seconds now);
  JobMachine(const JobMachine&) = delete;
  JobMachine& operator=(const JobMachine&) = delete;

  // What is to be done, in this order, before the next event. Times never go backwards.
  Actions apply(Seconds now, const JobEvent& event);

  JobPhase phase() const { return phase_; }
  const Cursor& cursor() const { return progress_.cursor(); }  // as far as reported

 private:
  enum class StopReason { none, quorum_lost, user };
  struct CurrentGeneration {
    std::uint64_t number = 0;
    std::string lead;                        // member that receives requests
    std::optional<std::int64_t> entered_at;  // step; none: not yet
    bool has_progressed = false;
    bool is_same_team = false;  // as in the generation before, in which nothing failed
  };

  // Of nodes (job_machine_nodes.cc).
  void on(const NodeJoined& event);
  void on(const NodeReady& event);
  void on(const NodeRefused& event);
  void on(const NodeLeft& event);
  void on(const NodeLost& event);
  void on(const NodeFailed& event);
  void on(const NodesAdded& event);
  void on(const StartFailed& event);
  void on(const NodeExit& event);
  void on(const Heartbeats& event);
  void on_gone(const std::string& name, Failure failure);
  void on_peer_report(const NodeFailed& event);
  bool is_checkpoint_error(const coord::FailureReport& report) const;
  void on_stalled(const StallWatch::Stalled& stalled);
  std::vector<StallWatch::Member> progress_of_members(const Heartbeats& heartbeats) const;
  std::string suspect_of(const NodeFailed& event) const;
  void start_due_nodes();

  // Of members and of the job (job_machine.cc).
  void on(const GenerationReport& event);
  void on_report(const std::string& node, const Entered& report);
  void on_report(const std::string& node, const Paused& report);
  void on_report(const std::string& node, const Leaving& report);
  void on_report(const std::string& node, const Finish& report);
  void on_report(const std::string& node, const StragglerRecord& record);
  void on_report(const std::string& node, const SlowLinkRecord& record);
  void on(const StepRecord& record);
  void on(const EpochRecord& record);
  void on(const ServerRecord& record) { strategy_.on_server(record, actions_); }
  void on(const SwitchRecord& record) { strategy_.on_switched(record, actions_); }
  void on(const CheckpointRecord& record) { progress_.on_checkpoint(record, actions_); }
  void on(const CheckpointFailed& event) { progress_.on_checkpoint_failed(event.error, actions_); }
  void on(const SwitchRequest& request) { strategy_.on_switch_request(request); }
  void on(const StopRequested& /*event*/) { stop_reason_ = StopReason::user; }
  void on(const Tick& event);

  // One phase after another (job_machine_phases.cc).
  void gather();
  void continue_without_lost();
  std::optional<Error> common_error() const;
  void on_unreachable(const PeerReport& report);
  void announce_or_wait();
  void announce_if_enough();
  bool may_another_join() const;
  void give_up(const std::vector<std::string>& remaining);
  void announce(const std::vector<std::string>& nodes);
  void send_requests();
  void shut_down(const Finish& finish);
  void fail(const Error& error);
  void set_phase(JobPhase phase);

  bool has_generation() const;  // announced, and not over
  std::vector<std::string> candidates() const;
  bool is_enough(const std::vector<std::string>& nodes) const;
  void report(const std::string& node, const Failure& failure);
  Error error_of(const std::string& node, const Failure& failure) const;
  void request(const Requests& requests);
  void say(std::string line) { actions_.emplace_back(Say{std::move(line)}); }

  const JobOptions options_;
  EventClock clock_;
  JobPhase phase_ = JobPhase::gathering;
  Seconds phase_began_;
  NodeTable nodes_;
  CurrentGeneration generation_;
  FailureLog failures_;
  std::optional<Error> last_failure_;
  StallWatch stalls_;
  StrategyControl strategy_;
  JobProgress progress_;
  StopReason stop_reason_ = StopReason::none;
  SessionResult result_;
  Actions actions_;  // of the event that is being handled
};

}  // namespace trireme::train
