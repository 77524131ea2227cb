// SPDX-License-Identifier: Apache-2.0
// One run of the conductor: who is a member, what is asked of the workers, what they tell.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/train/conductor/checkpoint_clock.h"
#include "trireme/train/conductor/conductor.h"
#include "trireme/train/conductor/roll.h"
#include "trireme/train/conductor/stall_watch.h"
#include "trireme/train/conductor/switch_policy.h"
#include "trireme/train/conductor/troubles.h"

namespace trireme::train {

class Conducting {
 public:
  Conducting(Conductor& conductor, coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
             const std::atomic<int>& stop);
  SessionResult run();

 private:
  // Before the first generation.
  void gather();
  bool is_complete(Seconds waited) const;
  bool may_still_come(const std::string& node, Seconds waited) const;
  std::size_t wanted() const;
  bool anybody_may_come() const;
  std::string missing_text(Seconds waited) const;

  // One generation after another.
  void tend();
  std::vector<std::string> members_now() const;
  void place_stragglers(std::vector<std::string>& nodes) const;
  bool is_member(const std::string& node) const;
  int rank_of(const std::string& node) const;
  void announce(const std::vector<std::string>& nodes);
  void go_on_without_the_lost();
  void throw_if_everybody_failed() const;
  void part_a_pair(const Complaint& complaint);
  std::vector<StallWatch::Member> progress_of_members() const;
  void look_for_stalls();
  void on_stalled(const StallWatch::Stalled& stalled);
  void look_for_return(const std::string& node);
  std::string missed_by(const std::string& node, const coord::FailureReport& failure) const;
  void announce_or_wait();
  void look_whether_enough_came();
  void give_up(const std::vector<std::string>& last_ones);
  void ask_workers();
  bool somebody_comes_or_goes() const;
  void request(const Requests& requests);
  void acknowledge_records();
  void tell_what_is_recorded(const std::string& node);
  void start_due_nodes();
  void on_failed_start(const std::string& node, const Error& error);
  void take_wishes();
  void switch_to(StrategyPart strategy, bool resets_slots, std::string why);
  void change_plan(const Cursor& cursor);

  // The end.
  void conclude();
  void part();
  void tell_checkpoints();

  // What happens.
  void listen();
  void hear(const coord::Event& happened);
  void miss(const std::string& node, Blame blame);
  void hear_refusal(const std::string& node, const std::string& reason);
  void hear_failure(const std::string& node, const coord::FailureReport& failure);
  void hear(const std::string& node, const coord::Message& message);
  void hear(const StepRecord& record);
  void hear(const EpochRecord& record);
  void hear_entry(const Cursor& cursor);
  void hear(const std::string& node, const StragglerRecord& record);
  void on_slow_link(const std::string& node, const SlowLinkRecord& record);
  void hear_that_nobody_is_slow();
  void go_out_of_step(const std::string& straggler);
  void go_back_to_the_plan();
  bool waits_for_the_slowest() const;
  void begin_switch_policy();
  SwitchPolicy::Part part_of(const std::string& strategy) const;
  void judge(const EpochRecord& record);
  void hear(const ServerRecord& record);
  void hear(const SwitchRecord& record);
  void hear_pause(const Cursor& cursor);
  void hear_leave_taking(const std::string& node);
  void hear(const NodeExit& exit);
  void on_out_of_memory(const NodeExit& exit);

  // In words and records.
  void tell(const std::string& node, const StragglerRecord& record);
  void tell(const SwitchPolicy::Verdict& verdict) const;
  void tell(const std::string& node, const Blame& blame);
  Error as_error(const std::string& node, const Blame& blame) const;
  std::string host_of(const std::string& node) const;
  std::string title(const std::string& node) const;
  std::string where(const coord::Progress& progress) const;
  void event(std::string_view type, const observe::Fields& fields) const;

  Conductor& conductor_;
  coord::Coordinator& coordinator_;
  const ConductorOptions& options_;
  Observer& observer_;
  const std::atomic<int>& stop_;
  const Clock& clock_;
  Roll roll_;
  Troubles troubles_;
  std::uint64_t generation_;          // that holds
  std::vector<std::string> members_;  // of it, in order of ranks
  std::string lead_;                  // the one of them that speaks for all
  std::set<std::string> leaving_;     // were asked to, and wait for the next boundary
  std::map<std::string, int> strikes_;
  std::set<std::string> out_of_memory_;            // nodes that the system ended for that, and that have not got on since
  std::map<std::string, std::string> last_words_;  // of nodes that are not here
  std::optional<Error> last_blame_;
  std::optional<Error> checkpoint_trouble_;  // why the last one could not be kept
  std::string straggler_;                    // told last
  std::string slow_link_;                    // whose, named last
  StragglerPolicy stragglers_;
  StallWatch stalls_;
  Seconds last_look_{};  // at whether members move
  std::optional<Finish> finish_;
  Plan plan_;
  // From the next boundary on.
  struct Change {
    StrategyPart strategy;
    bool resets_slots = false;
    std::string why;
    std::vector<Phase> later = {};  // what is planned after it
  };
  std::optional<Change> change_;
  std::optional<SwitchPolicy> switch_policy_;
  // Nobody waits for a straggler. When it is over, the plan holds again.
  struct Detour {
    Plan plan;
    std::string straggler;
  };
  std::optional<Detour> detour_;
  std::optional<Seconds> waiting_since_;  // for more nodes
  std::int64_t entered_at_ = 0;           // step at which the members began
  CheckpointClock checkpoint_clock_;
  Seconds acknowledged_at_{};
  std::int64_t acknowledged_step_ = -1;
  bool is_gathering_ = false, is_parting_ = false;
  bool is_same_team_ = false;                           // as in the generation before, which nobody disturbed
  bool has_entered_ = false, has_progressed_ = false;   // in this generation
  bool told_to_stop_ = false, asked_to_pause_ = false;  // in this generation
  bool quorum_lost_ = false;
  bool told_of_servers_ = false;
  SessionResult result_;
};

}  // namespace trireme::train
