// SPDX-License-Identifier: Apache-2.0
// Writes what a training reports into the run's journal and, for TensorBoard, into its event file; docs/journal.md has the schema.
#pragma once

#include "trireme/observe/event_file.h"
#include "trireme/observe/journal.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

class Recorder final : public Observer {
 public:
  Recorder(observe::Journal& journal, observe::EventFile& events) : journal_(journal), events_(events) {}

  void step(const StepRecord& record) override;
  void epoch(const EpochRecord& record) override;
  void server(const ServerRecord& record) override;
  void switched(const SwitchRecord& record) override;
  void checkpoint(const CheckpointRecord& record) override;
  void test(const Score& score) override;

 private:
  observe::Journal& journal_;
  observe::EventFile& events_;
  std::int64_t step_ = 0;  // the last one reported
};

}  // namespace trireme::train
