// SPDX-License-Identifier: Apache-2.0
// What a training, on one machine or on many, writes into its run directory and says on the console.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/observe/event_file.h"
#include "trireme/observe/journal.h"
#include "trireme/run/terminal/console.h"
#include "trireme/run/terminal/progress.h"
#include "trireme/run/training/run_page.h"
#include "trireme/run/training/training_run.h"
#include "trireme/train/checkpoint/run_directory.h"
#include "trireme/train/job/job.h"
#include "trireme/train/loop/session.h"
#include "trireme/train/records/recorder.h"
#include "trireme/train/telemetry/profile_recorder.h"
#include "trireme/train/telemetry/telemetry_recorder.h"

namespace trireme::run {

class RunRecords {
 public:
  // All must outlive it. Makes the run directory, or opens the one to resume, and locks it.
  RunRecords(const TrainingRequest& request, const train::Job& job, const data::DataSets& data, const Console& console, const Clock& clock);

  const train::RunDirectory& directory() const { return directory_; }
  observe::Journal& journal() { return journal_; }
  train::Observer& observer() { return observers_; }
  train::TelemetryRecorder& telemetry() { return telemetry_; }
  train::ProfileRecorder& profile() { return profile_; }

  // `machinery` is who trains: "2 threads; compiled in 0.3 s".
  void begin(std::int64_t threads, std::int64_t workers, const std::string& machinery);
  // What the strategies of several nodes send and wait for, once each.
  void record_strategies(const train::Plan& plan);
  // The checkpoint to continue from, reported and recorded; none: the run begins anew.
  std::optional<train::Checkpoint> resume(const train::CheckpointStore& checkpoints);
  // As the job and --until have it.
  train::Plan plan() const;
  void failed(const train::Cursor& cursor) { end(cursor, "failed"); }
  // The exit code.
  int finish(const train::SessionResult& result, const train::Cursor& cursor, int signal);

 private:
  void end(const train::Cursor& cursor, std::string_view reason);
  void record_run(std::int64_t threads, std::int64_t workers);
  void record_strategy(const train::StrategyPart& strategy);
  void end_page();
  std::string ending(const train::SessionResult& result, const train::Cursor& cursor) const;

  const TrainingRequest& request_;
  const train::Job& job_;
  const data::DataSets& data_;
  const Console& console_;
  train::RunDirectory directory_;
  observe::Journal journal_;
  observe::EventFile events_;
  Progress progress_;
  train::Recorder recorder_;
  train::TelemetryRecorder telemetry_;
  train::ProfileRecorder profile_;
  train::Observers observers_;
  std::optional<RunPage> page_;
  std::set<std::string> recorded_strategies_;
};

}  // namespace trireme::run
