// SPDX-License-Identifier: Apache-2.0
// Reports to the coordinator what happens in a training.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "trireme/coord/membership.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// The node that leads reports what all know after a step. All remember the records that the coordinator has not acknowledged as
// written, in case that the node that should have sent them is gone, or the coordinator that received them.
class Reporter final : public Observer {
 public:
  explicit Reporter(coord::Membership& membership) : membership_(membership) {}

  void set_reporting(bool whether) { is_reporting_ = whether; }
  void step(const StepRecord& record) override;
  void epoch(const EpochRecord& record) override;
  void straggler(const StragglerRecord& record) override;
  void slow_link(const SlowLinkRecord& record) override;
  void server(const ServerRecord& record) override;  // of this node alone: always reported
  void switched(const SwitchRecord& record) override;
  // The coordinator has written everything up to there.
  void recorded(const Cursor& up_to);
  // The training goes on from there: later records are of steps that are done again.
  void go_back_to(const Cursor& cursor);
  // What the coordinator knows already it passes over.
  void report_again();

 private:
  void send(std::string_view kind, std::string bytes);

  coord::Membership& membership_;
  bool is_reporting_ = false;
  std::deque<StepRecord> steps_;  // not acknowledged
  std::deque<EpochRecord> epochs_;
};

}  // namespace trireme::train
