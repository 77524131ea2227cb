// SPDX-License-Identifier: Apache-2.0
// What happens to a job, as the conductor's decisions see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/coord/messages.h"
#include "trireme/train/messages/reports.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// From the membership.
struct NodeJoined {
  std::string node;
  coord::NodeInfo info;
};
struct NodeReady {
  std::string node;
};
struct NodeRefused {
  std::string node;
  std::string reason;
};
struct NodeLeft {
  std::string node;
};
struct NodeLost {
  std::string node;
  std::string reason;
  coord::Progress progress;
};
struct Heartbeats {
  std::map<std::string, coord::Progress> progress;  // of each connected node, as last reported
};
struct NodeFailed {
  std::string node;
  std::uint64_t generation = 0;  // in which it happened
  coord::FailureReport report;
  Heartbeats heartbeats;
};

// Reports to which only the current generation gives a meaning; one of another generation is dropped.
struct Entered {
  Cursor cursor;
};
struct Paused {
  Cursor cursor;
};
struct Leaving {};
struct GenerationReport {
  std::string node;
  std::uint64_t generation = 0;
  std::variant<Entered, Paused, Leaving, Finish, StragglerRecord, SlowLinkRecord> content;
};

// From this machine.
struct CheckpointFailed {
  std::optional<Error> error;  // why it could not be kept; none: the disk refused it, which was reported
};
struct NodesAdded {
  std::vector<std::string> nodes;  // that can be started from here
};
struct StartFailed {
  std::string node;
  Error error;
};
// A node's process that has ended, as its launcher saw it.
struct NodeExit {
  std::string node;
  std::string how;             // "killed by SIGKILL", "exit code 1"
  bool by_itself = false;      // with an exit code of its own: it has reported why
  bool out_of_memory = false;  // the system ended it for that, as `how` says
};
struct StopRequested {};
// Some time has passed, and everything that had happened before has been handled.
struct Tick {
  std::size_t connected = 0;  // nodes
};

using JobEvent = std::variant<NodeJoined, NodeReady, NodeRefused, NodeLeft, NodeLost, NodeFailed, GenerationReport, StepRecord, EpochRecord,
                              ServerRecord, SwitchRecord, CheckpointRecord, CheckpointFailed, SwitchRequest, NodesAdded, StartFailed,
                              NodeExit, StopRequested, Heartbeats, Tick>;

}  // namespace trireme::train
