// SPDX-License-Identifier: Apache-2.0
// Events in, actions out.
#include "trireme/train/conductor/conductor_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "trireme/base/failpoint.h"
#include "trireme/train/conductor/node_reports.h"

namespace trireme::train {
namespace {

constexpr Seconds kTick{0.02};
constexpr Seconds kHeartbeats{0.25};  // they arrive once per second

coord::Message recorded_message(const Cursor& cursor) { return {.kind = std::string(kRecorded), .bytes = pack(cursor)}; }

}  // namespace

ConductorLoop::ConductorLoop(Conductor& conductor, coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
                             const std::atomic<int>& stop)
    : conductor_(conductor),
      coordinator_(coordinator),
      options_(options),
      observer_(observer),
      stop_(stop),
      clock_(conductor.clock_),
      machine_(options.job, conductor.cursor_, clock_.now()) {}

SessionResult ConductorLoop::run() {
  try {
    while (machine_.phase() != JobPhase::finished) {
      receive();
      feed_pending();
      feed(Tick{.connected = coordinator_.nodes().size()});
    }
    carry_out(WriteEvent{"fenced", {{"messages", static_cast<std::int64_t>(coordinator_.refused_messages())}}});
  } catch (...) {  // thrown again: the nodes must not wait for a coordinator that ends
    coordinator_.dismiss_all();
    throw;
  }
  return result_;
}

// Everything since the last call, after waiting a little for something to happen.
void ConductorLoop::receive() {
  auto next = coordinator_.next_event(kTick);
  while (next) {
    receive(*next);
    next = coordinator_.next_event(Seconds(0));
  }
  if (options_.exits)
    for (const NodeExit& exit : options_.exits()) feed(exit);
}

void ConductorLoop::receive(const coord::Event& event) {
  using Kind = coord::Event::Kind;
  feed_stop();
  switch (event.kind) {
    case Kind::hello:
      return feed(NodeJoined{event.node, event.info});
    case Kind::ready:
      return feed(NodeReady{event.node});
    case Kind::refused:
      return feed(NodeRefused{event.node, event.reason});
    case Kind::message:
      return receive_message(event);
    case Kind::failed:
      feed_inbox();  // it may have failed for a checkpoint that could not be written
      return feed(NodeFailed{event.node, event.generation, event.failure, heartbeats()});
    case Kind::left:
      return feed(NodeLeft{event.node});
    case Kind::lost:
      return feed(NodeLost{event.node, event.reason, event.progress});
  }
}

void ConductorLoop::receive_message(const coord::Event& event) {
  const coord::Message& message = event.message;
  if (message.kind == kTelemetryReport) {
    if (options_.telemetry) options_.telemetry(event.node, event.info.host, unpack_telemetry(message.bytes));
    return;
  }
  if (message.kind == kProfileReport) {
    if (options_.profile) options_.profile(event.node, message.bytes);
    return;
  }
  if (message.kind == kFinishReport) feed_inbox();  // the last checkpoint was written before
  if (const auto report = report_of(event)) feed(*report);
}

void ConductorLoop::feed_pending() {
  acknowledge_written();
  feed_inbox();
  feed_stop();
  if (options_.more) {
    std::vector<std::string> added = options_.more();
    if (!added.empty()) feed(NodesAdded{std::move(added)});
  }
  feed_heartbeats();
}

void ConductorLoop::feed_inbox() {
  for (const JobEvent& event : conductor_.take_inbox()) feed(event);
}

void ConductorLoop::feed_stop() {
  if (stop_ != 0 && !std::exchange(is_stop_fed_, true)) feed(StopRequested{});
}

void ConductorLoop::feed_heartbeats() {
  if (clock_.now() - heartbeats_fed_at_ < kHeartbeats) return;
  heartbeats_fed_at_ = clock_.now();
  feed(heartbeats());
}

Heartbeats ConductorLoop::heartbeats() const {
  Heartbeats out;
  for (const std::string& node : coordinator_.nodes()) out.progress[node] = coordinator_.progress(node);
  return out;
}

void ConductorLoop::feed(const JobEvent& event) {
  const Actions actions = machine_.apply(clock_.now(), event);
  conductor_.cursor_ = machine_.cursor();
  for (const Action& action : actions) std::visit([this](const auto& it) { this->carry_out(it); }, action);
}

// The number is on disk before any node receives it: it must not be given twice.
void ConductorLoop::carry_out(const AnnounceGeneration& action) {
  const coord::Generation& generation = action.generation;
  std::vector<std::string> nodes;
  for (const coord::Member& member : generation.members) nodes.push_back(member.node);
  conductor_.desk_.begin_generation(generation.number);
  carry_out(WriteEvent{
      "generation", {{"generation", static_cast<std::int64_t>(generation.number)}, {"members", fmt::format("{}", fmt::join(nodes, " "))}}});
  if (options_.events != nullptr) options_.events->sync();
  if (options_.announced) options_.announced(generation);
  acknowledge_written();  // of the generation before; later it might be of steps that this one repeats
  unwritten_.clear();
  failpoint("coord.after_log_before_reply");
  for (const std::string& node : nodes) coordinator_.send(node, recorded_message(action.recorded));
  coordinator_.announce(generation);
}

void ConductorLoop::carry_out(const SendRequest& action) {
  coordinator_.send(action.node, {.kind = std::string(kRequest), .bytes = pack(action.requests)});
}

// The records may wait for a disk that hangs, the loop does not.
void ConductorLoop::carry_out(const Acknowledge& action) {
  if (!options_.write_records) return acknowledge(action);
  unwritten_.push_back({.action = action, .is_written = options_.write_records()});
  acknowledge_written();
}

void ConductorLoop::acknowledge_written() {
  for (; !unwritten_.empty() && unwritten_.front().is_written(); unwritten_.pop_front()) acknowledge(unwritten_.front().action);
}

void ConductorLoop::acknowledge(const Acknowledge& action) {
  for (const std::string& node : action.nodes) coordinator_.send(node, recorded_message(action.recorded));
}

void ConductorLoop::carry_out(const StartNode& action) {
  std::optional<Error> failure;
  try {
    options_.start(action.node);
  } catch (const Error& error) {  // becomes an event: the job decides what a failed start means
    failure = error;
  }
  if (failure) feed(StartFailed{action.node, *failure});
}

void ConductorLoop::carry_out(const WriteRecord& action) const {
  if (options_.record) options_.record(action.type, action.fields);
}

void ConductorLoop::carry_out(const WriteEvent& action) const {
  if (options_.events != nullptr) options_.events->write(action.type, action.fields);
}

void ConductorLoop::carry_out(const Fail& action) { throw Error{action.error}; }

}  // namespace trireme::train
