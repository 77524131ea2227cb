// SPDX-License-Identifier: Apache-2.0
// Which strategy trains next: as planned, by hand, by the switch policy, or because of a straggler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/train/conductor/job_actions.h"
#include "trireme/train/conductor/node_table.h"
#include "trireme/train/conductor/switch_policy.h"
#include "trireme/train/job/policies.h"
#include "trireme/train/messages/reports.h"

namespace trireme::train {

// What has to be done is appended to `out`. A change waits for the next boundary.
class StrategyControl {
 public:
  StrategyControl(const Policies& policies, Plan plan, std::int64_t samples_seen, const Clock& clock);

  const Plan& plan() const { return plan_; }
  bool has_change() const { return change_.has_value(); }
  // Stragglers out, unless fewer than `min_nodes` would be left; or at the end: servers are on the first nodes, and all would wait for a
  // slow one.
  void place_stragglers(std::vector<std::string>& nodes, int min_nodes) const;

  void on_switch_request(const SwitchRequest& request);  // by hand
  void on_paused(const Cursor& cursor);                  // all members are there: a change begins
  void on_step(const StepRecord& record);
  void on_epoch(const EpochRecord& record, Actions& out);
  void on_switched(const SwitchRecord& record, Actions& out);
  void on_server(const ServerRecord& record, Actions& out);
  // Ranks are those of the current generation.
  void on_straggler(const StragglerRecord& record, const NodeTable& nodes, const Cursor& cursor, Actions& out);
  void on_slow_link(const SlowLinkRecord& record, const NodeTable& nodes, const Cursor& cursor, Actions& out);

 private:
  struct Change {
    StrategyPart strategy;
    bool resets_slots = false;
    std::string why;
    std::vector<Phase> later = {};  // what is planned after it
  };
  // No worker waits for a straggler. When it is over, the plan applies again.
  struct Detour {
    Plan plan;
    std::string straggler;
  };
  void begin_detour(const std::string& straggler, std::int64_t members);
  void end_detour(const Cursor& cursor);
  void on_no_straggler(const NodeTable& nodes, const Cursor& cursor, Actions& out);
  void report(const SwitchPolicy::Verdict& verdict, Actions& out) const;
  void report(const std::string& node, const StragglerRecord& record, const NodeTable& nodes, const Cursor& cursor, Actions& out) const;
  SwitchPolicy::Part part_of(const std::string& strategy) const;

  Policies policies_;
  Plan plan_;
  StragglerPolicy stragglers_;
  std::optional<Change> change_;
  std::optional<Detour> detour_;
  std::optional<SwitchPolicy> switch_policy_;
  std::string reported_straggler_;  // last
  std::string reported_slow_link_;  // last
  bool has_advised_servers_ = false;
};

}  // namespace trireme::train
