// SPDX-License-Identifier: Apache-2.0
// The coordinator's side of a training: gathers the nodes, makes them a generation, hears their reports, keeps their checkpoints.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/coord/coordinator.h"
#include "trireme/train/checkpoint.h"
#include "trireme/train/checkpoint_transfer.h"
#include "trireme/train/observer.h"
#include "trireme/train/reports.h"
#include "trireme/train/session.h"

namespace trireme::train {

// A node's process that has ended, as its launcher saw it.
struct NodeExit {
  std::string node;
  std::string how;  // "killed by SIGKILL", "exit code 1"
};

struct ConductorOptions {
  std::vector<std::string> nodes;  // names of those that take part, in order of ranks
  double checkpoint_seconds = 60;
  Seconds start_timeout{120};
  std::function<std::vector<NodeExit>()> exits;             // that have happened since the last call
  std::function<void(const coord::Generation&)> announced;  // for the records
};

class Conductor {
 public:
  // All must outlive it. `keep` writes a checkpoint and returns its record; it is called on a thread of the coordinator's server.
  Conductor(std::int64_t most_checkpoint_bytes, std::function<CheckpointRecord(Checkpoint)> keep, const Clock& clock);

  void begin_with(const Checkpoint& checkpoint) {
    desk_.offer(checkpoint);
    cursor_ = checkpoint.cursor;
  }
  // What the coordinator must offer to nodes.
  std::vector<coord::Coordinator::Method> methods();

  // Until the training has ended and every node has left. The first error ends it: thrown as what, where, which node, within two
  // seconds after it happened, with the others dismissed.
  SessionResult run(coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer, const std::atomic<int>& stop);
  const Cursor& cursor() const { return cursor_; }  // as far as reports tell

 private:
  friend class Conducting;
  std::vector<CheckpointRecord> taken();

  const Clock& clock_;
  std::function<CheckpointRecord(Checkpoint)> keep_;
  std::mutex mutex_;
  std::vector<CheckpointRecord> kept_;  // not yet told
  CheckpointDesk desk_;
  Cursor cursor_;
};

}  // namespace trireme::train
