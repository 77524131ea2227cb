// SPDX-License-Identifier: Apache-2.0
// Records of a training as messages, and back.
#pragma once

#include <string>
#include <string_view>

#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/plan.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/records/requests.h"

namespace trireme::train {

// Kinds of messages between a node and the coordinator.
inline constexpr std::string_view kStepReport = "step";
inline constexpr std::string_view kEpochReport = "epoch";
inline constexpr std::string_view kFinishReport = "finish";
inline constexpr std::string_view kStragglerReport = "straggler";
inline constexpr std::string_view kSlowLinkReport = "slow_link";
inline constexpr std::string_view kServerReport = "server";
inline constexpr std::string_view kSwitchReport = "switch";
inline constexpr std::string_view kTelemetryReport = "telemetry";
inline constexpr std::string_view kProfileReport = "profile";  // lines of profile/NODE.jsonl
inline constexpr std::string_view kRequest = "request";
inline constexpr std::string_view kRecorded = "recorded";      // to nodes: steps and epochs up to this cursor are written
inline constexpr std::string_view kEnteredReport = "entered";  // a generation, standing where the cursor says
inline constexpr std::string_view kPausedReport = "paused";    // all workers stand still there and wait for the next generation
inline constexpr std::string_view kLeavingReport = "leaving";  // this node was asked to end, and would go at the next boundary
// Methods of the coordinator.
inline constexpr std::string_view kPutCheckpoint = "put_checkpoint";
inline constexpr std::string_view kGetCheckpoint = "get_checkpoint";
inline constexpr std::string_view kSwitchMethod = "switch";  // for the user

struct Welcome {
  std::string job;
};

struct Finish {
  bool interrupted = false;
  bool stopped_early = false;
  Cursor cursor;
  Score test;
};

// A switch by hand.
struct SwitchRequest {
  std::string to;
  bool resets_slots = false;
};

// All of these throw data_loss for bytes that are no such message.
std::string pack(const Welcome& welcome);
std::string pack(const StepRecord& record);
std::string pack(const EpochRecord& record);
std::string pack(const Requests& requests);
std::string pack(const Finish& finish);
std::string pack(const Cursor& cursor);
std::string pack(const StragglerRecord& record);
std::string pack(const ServerRecord& record);
std::string pack(const SwitchRecord& record);
std::string pack(const SwitchRequest& request);
std::string pack(const Plan& plan);
Welcome unpack_welcome(const std::string& bytes);
StepRecord unpack_step(const std::string& bytes);
EpochRecord unpack_epoch(const std::string& bytes);
Requests unpack_requests(const std::string& bytes);
Finish unpack_finish(const std::string& bytes);
Cursor unpack_cursor(const std::string& bytes);
StragglerRecord unpack_straggler(const std::string& bytes);
std::string pack(const SlowLinkRecord& record);
SlowLinkRecord unpack_slow_link(const std::string& bytes);
ServerRecord unpack_server(const std::string& bytes);
SwitchRecord unpack_switch(const std::string& bytes);
SwitchRequest unpack_switch_request(const std::string& bytes);
Plan unpack_plan(const std::string& bytes);

// State of a training as one row of bytes; what is known of the data (normalization, class names) stays at home.
std::string pack(const Checkpoint& checkpoint);
Checkpoint unpack_checkpoint(std::string_view bytes);

}  // namespace trireme::train
