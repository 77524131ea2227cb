// SPDX-License-Identifier: Apache-2.0
// What a training reports, and to whom.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trireme/observe/records/epoch_record.h"
#include "trireme/observe/records/server_record.h"
#include "trireme/observe/records/step_record.h"
#include "trireme/observe/records/straggler_record.h"
#include "trireme/observe/records/switch_record.h"

namespace trireme::train {

// Described where journal, wire and report visit them.
using observe::EpochRecord;
using observe::Score;
using observe::ServerRecord;
using observe::Skips;
using observe::SlowLinkRecord;
using observe::StepRecord;
using observe::StragglerRecord;
using observe::SwitchRecord;

struct CheckpointRecord {
  std::int64_t step = 0;
  std::filesystem::path directory;
  double seconds = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void step(const StepRecord&) {}
  virtual void epoch(const EpochRecord&) {}
  virtual void checkpoint(const CheckpointRecord&) {}
  virtual void test(const Score&) {}
  virtual void straggler(const StragglerRecord&) {}
  virtual void slow_link(const SlowLinkRecord&) {}
  virtual void server(const ServerRecord&) {}
  virtual void switched(const SwitchRecord&) {}
};

// Reports to several observers.
class Observers final : public Observer {
 public:
  explicit Observers(std::vector<Observer*> observers) : observers_(std::move(observers)) {}

  void step(const StepRecord& record) override {
    for (Observer* observer : observers_) observer->step(record);
  }
  void epoch(const EpochRecord& record) override {
    for (Observer* observer : observers_) observer->epoch(record);
  }
  void checkpoint(const CheckpointRecord& record) override {
    for (Observer* observer : observers_) observer->checkpoint(record);
  }
  void test(const Score& score) override {
    for (Observer* observer : observers_) observer->test(score);
  }
  void straggler(const StragglerRecord& record) override {
    for (Observer* observer : observers_) observer->straggler(record);
  }
  void slow_link(const SlowLinkRecord& record) override {
    for (Observer* observer : observers_) observer->slow_link(record);
  }
  void server(const ServerRecord& record) override {
    for (Observer* observer : observers_) observer->server(record);
  }
  void switched(const SwitchRecord& record) override {
    for (Observer* observer : observers_) observer->switched(record);
  }

 private:
  std::vector<Observer*> observers_;
};

}  // namespace trireme::train
