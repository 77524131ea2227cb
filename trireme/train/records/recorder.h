// SPDX-License-Identifier: Apache-2.0
// Writes what a training reports into the run's journal and, for TensorBoard, into its event files; docs/journal.md has the schema.
#pragma once

#include <cstdint>

#include "trireme/observe/event_file.h"
#include "trireme/observe/journal.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// TensorBoard has one axis for all curves of a directory: epochs and steps are two, so their events are in two.
struct EventFiles {
  observe::EventFile& epochs;
  observe::EventFile& steps;
  std::int64_t every = 1;  // of how many steps one is written
};

// The `every` that makes about 1000 points of these steps, as many as TensorBoard shows of a curve.
std::int64_t every_for(std::int64_t steps);

class Recorder final : public Observer {
 public:
  // Without `has_accuracy`, e.g. of a regression, each accuracy is recorded as unknown.
  Recorder(observe::Journal& journal, const EventFiles& events, bool has_accuracy = true)
      : journal_(journal), events_(events), has_accuracy_(has_accuracy) {}

  void step(const StepRecord& reported) override;
  void epoch(const EpochRecord& reported) override;
  void server(const ServerRecord& record) override;
  void switched(const SwitchRecord& record) override;
  void checkpoint(const CheckpointRecord& record) override;
  void test(const Score& score) override;

 private:
  Score known(Score score) const;
  void write_step_events(const StepRecord& record) const;

  observe::Journal& journal_;
  EventFiles events_;
  bool has_accuracy_;
  std::int64_t step_ = 0;  // the last one reported
};

}  // namespace trireme::train
