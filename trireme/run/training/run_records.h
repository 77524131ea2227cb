// SPDX-License-Identifier: Apache-2.0
// What a training, on one machine or on many, writes into its run directory and says on the console.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "trireme/data/sets/data_sets.h"
#include "trireme/observe/event_file.h"
#include "trireme/observe/journal.h"
#include "trireme/run/learned/run_findings.h"
#include "trireme/run/terminal/console.h"
#include "trireme/run/terminal/progress.h"
#include "trireme/run/training/disk_guard.h"
#include "trireme/run/training/queued_observer.h"
#include "trireme/run/training/run_page.h"
#include "trireme/run/training/training_run.h"
#include "trireme/run/training/write_queue.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/checkpoint/run_directory.h"
#include "trireme/train/job/job.h"
#include "trireme/train/loop/session.h"
#include "trireme/train/records/recorder.h"
#include "trireme/train/telemetry/profile_recorder.h"
#include "trireme/train/telemetry/telemetry_recorder.h"

namespace trireme::run {

// What a training's guard of the disk is made of: the directory's name as far as it is known, and where its lines go.
std::string watched_directory(const TrainingRequest& request);
DiskGuard::Options guard_options(const TrainingRequest& request, const Console& console, const Clock& clock, const std::atomic<int>& stop);

class RunRecords {
 public:
  // All must outlive it. Makes the run directory, or opens the one to resume, and locks it.
  RunRecords(const TrainingRequest& request, const train::Job& job, const data::DataSets& data, const Console& console, DiskGuard& guard);

  const train::RunDirectory& directory() const { return directory_; }
  // Files are written by a thread of its own: a disk that hangs holds up no caller. What fails there is thrown by a later call of
  // observer(), record(), flush() or sync().
  train::Observer& observer() { return observers_; }
  void record(std::string_view type, const observe::Fields& fields);
  void record_telemetry(const std::string& node, const std::string& host, const train::TelemetryReport& report);
  void record_profile(const std::string& node, const std::string& lines);
  // Begins to give to the system what was recorded so far; what it returns says whether that is done.
  std::function<bool()> flush();
  void sync();  // waits until what was recorded so far is on disk
  // For the store of this run's checkpoints.
  train::CheckpointStore::WatchWrite checkpoint_watch();

  // `machinery` is who trains: "2 threads; compiled in 0.3 s".
  void begin(std::int64_t threads, std::int64_t workers, const std::string& machinery);
  // What the strategies of several nodes send and wait for, once each.
  void record_strategies(const train::Plan& plan);
  // The checkpoint to continue from, reported and recorded; none: the run begins anew.
  std::optional<train::Checkpoint> resume(const train::CheckpointStore& checkpoints);
  // As the job and --until have it.
  train::Plan plan() const;
  void failed(const train::Cursor& cursor) { end(cursor, "failed"); }
  // The exit code. A training that came to its end is evaluated first, unless a signal in `stop` ends that.
  int finish(const train::SessionResult& result, const train::Cursor& cursor, const std::atomic<int>& stop);

 private:
  WriteQueue::Number post(const DiskWrite& write, std::function<void()> carry_out);
  void end(const train::Cursor& cursor, std::string_view reason);
  void record_run(std::int64_t threads, std::int64_t workers);
  void record_skipped_samples();
  void record_strategy(const train::StrategyPart& strategy);
  void end_page();
  RunFindings findings();
  void write_examples();
  void evaluate(const train::SessionResult& result, const std::atomic<int>& stop);
  std::string ending(const train::SessionResult& result, const train::Cursor& cursor) const;
  std::string best_epoch(const train::Cursor& cursor) const;

  const TrainingRequest& request_;
  const train::Job& job_;
  const data::DataSets& data_;
  const Console& console_;
  DiskGuard& guard_;
  std::optional<DiskGuard::Write> opening_;  // until all files are open
  std::atomic<std::chrono::system_clock::time_point> recorded_at_;
  train::RunDirectory directory_;
  observe::Journal journal_;
  observe::EventFile events_;
  observe::EventFile step_events_;
  Progress progress_;
  train::Recorder recorder_;
  train::TelemetryRecorder telemetry_;
  train::ProfileRecorder profile_;
  WriteQueue queue_;  // behind all that its thread uses
  QueuedObserver queued_recorder_;
  train::Observers observers_;
  std::optional<RunPage> page_;
  std::set<std::string> recorded_strategies_;
  std::string findings_text_;  // of the evaluation, for people
};

}  // namespace trireme::run
