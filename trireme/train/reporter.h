// SPDX-License-Identifier: Apache-2.0
// Tells the coordinator what happens in a training.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/coord/membership.h"
#include "trireme/train/observer.h"

namespace trireme::train {

// The node that leads tells what everybody knows after a step. All remember the last records, in case that the one who should have
// told them is gone.
class Reporter final : public Observer {
 public:
  explicit Reporter(coord::Membership& membership) : membership_(membership) {}

  void tells(bool whether) { tells_ = whether; }
  void step(const StepRecord& record) override;
  void epoch(const EpochRecord& record) override;
  void straggler(const StragglerRecord& record) override;
  void server(const ServerRecord& record) override;  // of this node alone: always told
  void switched(const SwitchRecord& record) override;
  // What the coordinator knows already it passes over.
  void tell_again();

 private:
  void send(std::string_view kind, std::string bytes);

  coord::Membership& membership_;
  bool tells_ = false;
  std::deque<StepRecord> steps_;
  std::optional<EpochRecord> epoch_;
};

}  // namespace trireme::train
