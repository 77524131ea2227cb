// SPDX-License-Identifier: Apache-2.0
// What the conductor decides to do: carried out in this order by ConductorLoop.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/coord/generation.h"
#include "trireme/observe/journal.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/records/requests.h"
#include "trireme/train/records/session_result.h"

namespace trireme::train {

struct AnnounceGeneration {
  coord::Generation generation;
  Cursor recorded;  // so far
};
struct SendRequest {
  std::string node;
  Requests requests;
};
// Writes what is recorded, then reports to the nodes how far that is.
struct Acknowledge {
  std::vector<std::string> nodes;
  Cursor recorded;
};
struct StartNode {
  std::string node;
};
struct DismissNode {
  std::string node;
};
struct DismissAll {};
struct Say {
  std::string line;
};
// The journal of the run. Types and names of fields are literals.
struct WriteRecord {
  std::string_view type;
  observe::Fields fields;
};
// The event journal of this process.
struct WriteEvent {
  std::string_view type;
  observe::Fields fields;
};
template <class Record>
struct Observe {
  Record record;
};
struct Fail {
  Error error;
};
struct Complete {
  SessionResult result;
};

// Score: of the test samples.
using Action = std::variant<AnnounceGeneration, SendRequest, Acknowledge, StartNode, DismissNode, DismissAll, Say, WriteRecord, WriteEvent,
                            Observe<StepRecord>, Observe<EpochRecord>, Observe<ServerRecord>, Observe<SwitchRecord>,
                            Observe<CheckpointRecord>, Observe<Score>, Fail, Complete>;
using Actions = std::vector<Action>;

}  // namespace trireme::train
