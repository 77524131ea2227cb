// SPDX-License-Identifier: Apache-2.0
// Nodes join, fail, stall, end and are started again.
#include <fmt/format.h>

#include <utility>

#include "trireme/train/conductor/job_machine.h"
#include "trireme/train/messages/progress_reporter.h"

namespace trireme::train {

void JobMachine::on(const NodeJoined& event) {
  nodes_.at(event.node).on_joined(event.info);
  actions_.emplace_back(WriteEvent{"hello", {{"node", event.node}, {"host", event.info.host}}});
}

void JobMachine::on(const NodeReady& event) { nodes_.at(event.node).on_ready(); }

void JobMachine::on(const NodeRefused& event) {
  nodes_.at(event.node).is_excluded = true;
  if (phase_ == JobPhase::gathering && !options_.takes_over)
    return fail(Error{failed_precondition, "{} is refused: {}", nodes_.title(event.node), event.reason});
  say(fmt::format("{} is refused: {}", nodes_.title(event.node), event.reason));
}

void JobMachine::on(const NodeLeft& event) {
  actions_.emplace_back(WriteEvent{"left", {{"node", event.node}}});
  on_gone(event.node, {.evidence = Failure::Evidence::process_ended, .what = "left", .cause = "before the end", .progress = {}});
}

void JobMachine::on(const NodeLost& event) {
  actions_.emplace_back(WriteEvent{"lost", {{"node", event.node}, {"reason", event.reason}}});
  on_gone(event.node,
          {.evidence = Failure::Evidence::lost, .code = unavailable, .what = "is lost", .cause = event.reason, .progress = event.progress});
}

void JobMachine::on_gone(const std::string& name, Failure failure) {
  Node& node = nodes_.at(name);
  const bool was_here = node.on_lost(clock_.now());
  if (std::exchange(node.is_leaving, false)) {
    node.is_excluded = true;
    if (!node.rank) return;
  }
  if (phase_ == JobPhase::shutting_down || (!was_here && !failures_.failures().contains(name))) return;
  node.last_error = fmt::format("{}: {}", failure.what, failure.cause);
  if (!node.rank) return;
  failures_.add(name, std::move(failure));
  set_phase(JobPhase::recovering);
}

void JobMachine::on(const NodeFailed& event) {
  const coord::FailureReport& report = event.report;
  // Ranks of another generation are not those of this one. A node's own error stays one.
  if (report.blames_peer && event.generation != generation_.number) return;
  if (report.blames_peer && phase_ != JobPhase::gathering) return on_peer_report(event);  // before the first generation there are no peers
  if (is_checkpoint_error(report)) return fail(*progress_.checkpoint_error());
  // What is not finite for one node is not for the next: it is the job's error, and the last checkpoint is from before it.
  if (report.code == out_of_range)
    return fail(Error{out_of_range, "{}; {}", report.text,
                      progress_.checkpoint().empty() ? "no checkpoint was written yet"
                                                     : "the last good checkpoint is " + progress_.checkpoint().string()});
  Failure failure{
      .evidence = Failure::Evidence::own_error, .code = report.code, .what = "failed", .cause = report.text, .progress = report.progress};
  // Before the first step an error of the job or its data is likelier than one of the machine.
  if (phase_ == JobPhase::gathering) return fail(error_of(event.node, failure));
  actions_.emplace_back(DismissNode{event.node});
  on_gone(event.node, std::move(failure));
}

// A worker fails for it only if it was the last checkpoint.
bool JobMachine::is_checkpoint_error(const coord::FailureReport& report) const {
  return progress_.checkpoint_error() && report.text.find(progress_.checkpoint_error()->what()) != std::string::npos;
}

void JobMachine::on_peer_report(const NodeFailed& event) {
  if (!has_generation()) return;
  failures_.add({.by = event.node, .about = suspect_of(event), .text = event.report.text});
  set_phase(JobPhase::recovering);
}

std::vector<StallWatch::Member> JobMachine::progress_of_members(const Heartbeats& heartbeats) const {
  std::vector<StallWatch::Member> out;
  for (const std::string& node : nodes_.members()) {
    const auto found = heartbeats.progress.find(node);
    out.push_back({node, found == heartbeats.progress.end() ? coord::Progress{} : found->second});
  }
  return out;
}

// The report names the rank that was not reached. If that peer was only silent it may have been waiting itself.
std::string JobMachine::suspect_of(const NodeFailed& event) const {
  const std::vector<StallWatch::Member> members = progress_of_members(event.heartbeats);
  const bool is_known = event.report.peer >= 0 && event.report.peer < std::ssize(members);
  std::string about = is_known ? members[static_cast<std::size_t>(event.report.peer)].node : "";
  if (event.report.code != deadline_exceeded) return about;
  const std::string awaited = StallWatch::awaited(members, about).value_or("");
  return awaited == event.node ? about : awaited;
}

void JobMachine::on(const Heartbeats& event) {
  if (phase_ == JobPhase::shutting_down) return;
  for (const std::string& name : nodes_.names()) {
    Node& node = nodes_.at(name);
    const auto reported = event.progress.find(name);
    if (node.presence != Node::Presence::stalled || reported == event.progress.end() || reported->second.phase != kRegroup) continue;
    node.presence = Node::Presence::ready;
    say(fmt::format("{} moves again: it rejoins at the next boundary", nodes_.title(name)));
    actions_.emplace_back(WriteEvent{"moved", {{"node", name}}});
  }
  if (phase_ == JobPhase::gathering || phase_ == JobPhase::waiting_for_nodes) return;
  for (const StallWatch::Stalled& stalled : stalls_.look(progress_of_members(event)))
    if (nodes_.at(stalled.node).presence != Node::Presence::stalled) on_stalled(stalled);
}

void JobMachine::on_stalled(const StallWatch::Stalled& stalled) {
  const std::string cause =
      fmt::format("it has been {} for {:.0f} s while {} for it; it is left out until it moves", stalled.doing, stalled.progress.seconds,
                  stalled.waiting == 1 ? "another waits" : fmt::format("{} others wait", stalled.waiting));
  actions_.emplace_back(WriteEvent{"lost", {{"node", stalled.node}, {"reason", cause}}});
  nodes_.at(stalled.node).presence = Node::Presence::stalled;
  stalls_.forget(stalled.node);
  failures_.add(
      stalled.node,
      {.evidence = Failure::Evidence::lost, .code = deadline_exceeded, .what = "is stuck", .cause = cause, .progress = stalled.progress});
  set_phase(JobPhase::recovering);
}

void JobMachine::on(const NodeExit& event) {
  Node& node = nodes_.at(event.node);
  node.on_process_ended(clock_.now());
  if (phase_ == JobPhase::shutting_down || node.is_leaving) return;
  node.last_error = event.how;
  // Once may be a neighbour's fault. Twice without progress in between it would happen again and again.
  if (event.out_of_memory && std::exchange(node.ran_out_of_memory, true))
    return fail(Error{resource_exhausted,
                      "{} ended twice in a row: {}; give it more memory, or ask for less: fewer nodes on that machine, a smaller "
                      "train.batch_size, data.pipeline.cache = \"disk\"; then go on with --resume",
                      nodes_.title(event.node), event.how});
  if (phase_ == JobPhase::gathering && event.by_itself)
    return fail(Error{aborted, "{} ended (preparation): {}", nodes_.title(event.node), event.how});
  if (!node.rank) return;
  actions_.emplace_back(DismissNode{event.node});
  node.on_lost(clock_.now());
  failures_.add(event.node, {.evidence = Failure::Evidence::process_ended, .what = "ended", .cause = event.how, .progress = {}});
  set_phase(JobPhase::recovering);
}

void JobMachine::on(const NodesAdded& event) {
  for (const std::string& node : event.nodes) nodes_.add_startable(node);
}

void JobMachine::start_due_nodes() {
  if (phase_ == JobPhase::stopping || stop_reason_ == StopReason::user) return;
  for (const std::string& name : nodes_.due()) {
    // The others are spare.
    if (options_.max_nodes > 0 && nodes_.present() >= static_cast<std::size_t>(options_.max_nodes)) return;
    Node& node = nodes_.at(name);
    if (node.failures > 0) {
      say(fmt::format("starting node {} again (failure {} in a row)", name, node.failures));
      actions_.emplace_back(WriteEvent{"relaunch", {{"node", name}, {"failures", std::int64_t{node.failures}}}});
    }
    node.on_launched();
    actions_.emplace_back(StartNode{name});
  }
}

// This machine may be short of processes or descriptors for a moment: no reason to end a job that others work on. Before there is
// such a job, it is reported at once.
void JobMachine::on(const StartFailed& event) {
  if (phase_ == JobPhase::gathering && !options_.takes_over) return fail(event.error);
  Node& node = nodes_.at(event.node);
  node.on_process_ended(clock_.now());
  node.last_error = fmt::format("could not be started: {}", event.error.what());
  say(fmt::format("node {} {}; it is tried again later", event.node, node.last_error));
}

}  // namespace trireme::train
