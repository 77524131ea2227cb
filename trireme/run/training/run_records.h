// SPDX-License-Identifier: Apache-2.0
// What a training, on one machine or on many, writes into its run directory and says on the console.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
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
#include "trireme/run/training/end_patience.h"
#include "trireme/run/training/queued_observer.h"
#include "trireme/run/training/record_watch.h"
#include "trireme/run/training/run_page.h"
#include "trireme/run/training/training_run.h"
#include "trireme/run/training/write_queue.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/checkpoint/checkpoint_keeper.h"
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

inline constexpr DiskWrite kRecord{.what = "journal", .bytes = 1024};  // about

class RunRecords {
 public:
  // All must outlive it. Makes the run directory, or opens the one to resume, and locks it.
  RunRecords(const TrainingRequest& request, const train::Job& job, const data::DataSets& data, const Console& console, DiskGuard& guard);

  const train::RunDirectory& directory() const { return directory_; }
  // Files are written by a thread of its own: a disk that hangs holds up no caller. What the disk refuses waits in memory, which the user
  // learns. What else fails there is thrown by a later call of observer(), record(), flush() or sync().
  train::Observer& observer() { return observers_; }
  void record(std::string_view type, const observe::Fields& fields);
  void record_telemetry(const std::string& node, const std::string& host, const train::TelemetryReport& report);
  void record_profile(const std::string& node, const std::string& lines);
  // Begins to give to the system what was recorded so far; what it returns says whether that is done.
  std::function<bool()> flush();
  void sync();  // waits until what was recorded so far is on disk
  // For the store of this run's checkpoints, and for their keeper.
  train::CheckpointStore::WatchWrite checkpoint_watch();
  train::CheckpointKeeper::Events checkpoint_events();

  // `machinery` is who trains: "2 threads; compiled in 0.3 s".
  void begin(std::int64_t threads, std::int64_t workers, const std::string& machinery);
  // What the strategies of several nodes send and wait for, once each.
  void record_strategies(const train::Plan& plan);
  // The checkpoint to continue from, reported and recorded; none: the run begins anew.
  std::optional<train::Checkpoint> resume(train::CheckpointKeeper& checkpoints);
  // As the job and --until have it.
  train::Plan plan() const;
  // All nodes have left, and `checkpoints` may have one that is not on disk: it is tried again, by failed() once. `stop` is the signal that
  // interrupted the training, or interrupts this.
  void failed(const train::Cursor& cursor, train::CheckpointKeeper& checkpoints);
  // The exit code. A training that came to its end is evaluated first, unless a signal in `stop` ends that.
  int finish(train::SessionResult result, const train::Cursor& cursor, const std::atomic<int>& stop, train::CheckpointKeeper& checkpoints);

 private:
  WriteQueue::Number post(const DiskWrite& write, std::function<void()> carry_out);
  void say(const std::string& line) const;
  void tend_files();
  void retry_files();
  void on_checkpoint_refused(const train::CheckpointKeeper::Refusal& refusal);
  std::filesystem::path settle_checkpoint(train::CheckpointKeeper& checkpoints, EndPatience& patience);
  void settle_records(EndPatience* patience);
  void end(const train::Cursor& cursor, std::string_view reason, EndPatience* patience);
  int report_ending(const train::SessionResult& result, const train::Cursor& cursor, int signal) const;
  int report_missing(const train::CheckpointKeeper::Refusal& refusal) const;
  void record_run(std::int64_t threads, std::int64_t workers);
  void record_resume(const train::Cursor& cursor, const std::string& checkpoint);
  void record_skipped_samples();
  void record_strategy(const train::StrategyPart& strategy);
  void end_page();
  RunFindings findings();
  void write_examples();
  void evaluate(const train::SessionResult& result, const std::atomic<int>& stop);
  std::string summary(const train::SessionResult& result, const train::Cursor& cursor) const;
  std::string best_epoch(const train::Cursor& cursor) const;

  const TrainingRequest& request_;
  const train::Job& job_;
  const data::DataSets& data_;
  const Console& console_;
  DiskGuard& guard_;
  std::optional<DiskGuard::Write> opening_;  // until all files are open
  std::atomic<std::chrono::system_clock::time_point> recorded_at_;
  RecordWatch disk_;
  Seconds next_retry_{};  // of the queue's thread
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
