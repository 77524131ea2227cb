// SPDX-License-Identifier: Apache-2.0
// The coordinator's side of a training: gathers the nodes, announces one generation after another as they join and fail, receives
// their reports, writes their checkpoints.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/coord/coordinator.h"
#include "trireme/observe/journal.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/conductor/job_events.h"
#include "trireme/train/conductor/job_options.h"
#include "trireme/train/messages/checkpoint_transfer.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/records/session_result.h"
#include "trireme/train/telemetry/telemetry.h"

namespace trireme::train {

struct ConductorOptions {
  JobOptions job;
  std::function<void(const std::string& node)> start;       // also again, after its process has ended
  std::function<std::vector<std::string>()> more;           // names of nodes that can be started, too, since the last call
  std::function<std::vector<NodeExit>()> exits;             // that have happened since the last call
  std::function<void(const coord::Generation&)> announced;  // for the records; called before the nodes receive it
  // Begins to write what was recorded and still waits; what it returns says whether that is written. May be empty.
  std::function<std::function<bool()>()> write_records;
  std::function<void(const std::string& line)> say;  // what a person should read
  // What happened, for the run's journal and, if there is one, for the event journal of this process.
  std::function<void(std::string_view type, const observe::Fields& fields)> record;
  observe::Journal* events = nullptr;
  // What nodes measure; may be empty.
  std::function<void(const std::string& node, const std::string& host, const TelemetryReport& report)> telemetry;
  std::function<void(const std::string& node, const std::string& lines)> profile;
};

class Conductor {
 public:
  // Writes a checkpoint and returns its record; called on a thread of the coordinator's server. None: the disk refused it, which is
  // reported, and another is to be asked for soon.
  using Keep = std::function<std::optional<CheckpointRecord>(Checkpoint)>;
  // All must outlive it.
  Conductor(std::int64_t max_checkpoint_bytes, Keep keep, const Clock& clock);

  void begin_with(const Checkpoint& checkpoint) {
    desk_.offer(checkpoint);
    cursor_ = checkpoint.cursor;
  }
  // The coordinator before has written records up to there, which may be less than its last checkpoint contains; nodes that are still
  // there report the rest again.
  void take_over(std::int64_t step, std::int64_t epochs) {
    cursor_.step = step;
    cursor_.epoch = epochs;
  }
  // What the coordinator must offer to nodes.
  std::vector<coord::Coordinator::Method> methods();

  // Until the training has ended and every node has left. A lost node leads to a new generation without it; an error that this can't
  // repair is thrown as what, where, which node, with the others dismissed.
  SessionResult run(coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer, const std::atomic<int>& stop);
  const Cursor& cursor() const { return cursor_; }  // as far as reported

 private:
  friend class ConductorLoop;
  void post(JobEvent event);
  std::vector<JobEvent> take_inbox();
  std::string on_switch_request(SwitchRequest request);

  const Clock& clock_;
  Keep keep_;
  std::mutex mutex_;
  std::vector<JobEvent> inbox_;  // from threads of the coordinator's server
  CheckpointDesk desk_;
  Cursor cursor_;
};

}  // namespace trireme::train
