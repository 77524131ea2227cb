// SPDX-License-Identifier: Apache-2.0
// The coordinator's side of a training: gathers the nodes, makes them one generation after another as they come and go, hears
// their reports, keeps their checkpoints.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/coord/coordinator.h"
#include "trireme/observe/journal.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/policies.h"
#include "trireme/train/messages/checkpoint_transfer.h"
#include "trireme/train/messages/reports.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/records/session_result.h"
#include "trireme/train/telemetry/telemetry.h"

namespace trireme::train {

// A node's process that has ended, as its launcher saw it.
struct NodeExit {
  std::string node;
  std::string how;             // "killed by SIGKILL", "exit code 1"
  bool by_itself = false;      // with an exit code of its own: it has said why
  bool out_of_memory = false;  // the system ended it for that, as `how` says
};

struct ConductorOptions {
  std::vector<std::string> nodes;     // names of those that take part, in order of ranks
  int min_nodes = 1;                  // with fewer the training is not continued
  int start_nodes = 0;                // with fewer it does not begin; 0: with all
  int max_nodes = 0;                  // at a time; 0: all that come
  int restarts = 3;                   // of a node, in a row, without progress
  std::uint64_t last_generation = 0;  // of the run so far
  Plan plan;
  bool takes_over = false;  // nodes of a coordinator that died may still be there
  double checkpoint_seconds = 60;
  Seconds start_timeout{120};
  Seconds stuck{30};   // a member that stands still for so long while others wait for it is left out (see StallWatch)
  Seconds silence{5};  // after which the coordinator holds a node for lost
  Policies policies;

  std::set<std::string> startable;                          // nodes that `start` can start
  std::function<void(const std::string& node)> start;       // also again, after its process has ended
  std::function<std::vector<std::string>()> more;           // names of nodes that can be started, too, since the last call
  std::function<std::vector<NodeExit>()> exits;             // that have happened since the last call
  std::function<void(const coord::Generation&)> announced;  // for the records; called before the nodes hear of it
  std::function<void()> write_records;                      // what was recorded and still waits to be written; may be empty
  std::function<void(const std::string& line)> say;         // what a person should read
  // What happened, for the run's journal and, if there is one, for the event journal of this process.
  std::function<void(std::string_view type, const observe::Fields& fields)> record;
  observe::Journal* events = nullptr;
  // What nodes measure; may be empty.
  std::function<void(const std::string& node, const std::string& host, const TelemetryReport& report)> telemetry;
  std::function<void(const std::string& node, const std::string& lines)> profile;
};

class Conductor {
 public:
  // All must outlive it. `keep` writes a checkpoint and returns its record; it is called on a thread of the coordinator's server.
  Conductor(std::int64_t most_checkpoint_bytes, std::function<CheckpointRecord(Checkpoint)> keep, const Clock& clock);

  void begin_with(const Checkpoint& checkpoint) {
    desk_.offer(checkpoint);
    cursor_ = checkpoint.cursor;
  }
  // The coordinator before has written records up to there, which may be less than its last checkpoint contains; nodes that are still
  // there tell the rest again.
  void take_over(std::int64_t step, std::int64_t epochs) {
    cursor_.step = step;
    cursor_.epoch = epochs;
  }
  // What the coordinator must offer to nodes.
  std::vector<coord::Coordinator::Method> methods();

  // Until the training has ended and every node has left. A lost node leads to a new generation without it; what can't be mended so
  // is thrown as what, where, which node, with the others dismissed.
  SessionResult run(coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer, const std::atomic<int>& stop);
  const Cursor& cursor() const { return cursor_; }  // as far as reports tell

 private:
  friend class Conducting;
  struct Kept {
    CheckpointRecord record;
    std::optional<Error> trouble;  // instead: why it could not be kept
  };
  void note(Kept kept);
  std::vector<Kept> taken();
  std::vector<SwitchWish> taken_wishes();
  std::string accept(SwitchWish wish);

  const Clock& clock_;
  std::function<CheckpointRecord(Checkpoint)> keep_;
  std::mutex mutex_;
  std::vector<Kept> kept_;          // not yet told
  std::vector<SwitchWish> wishes_;  // not yet taken up
  CheckpointDesk desk_;
  Cursor cursor_;
};

}  // namespace trireme::train
