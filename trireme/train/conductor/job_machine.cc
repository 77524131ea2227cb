// SPDX-License-Identifier: Apache-2.0
// Events of the members and of the job as a whole.
#include "trireme/train/conductor/job_machine.h"

#include <fmt/format.h>

#include <utility>

namespace trireme::train {
namespace {

constexpr std::int64_t kProgress = 10;  // steps after which earlier failures are forgiven
constexpr Seconds kShutdownTimeout{10};

}  // namespace

std::string_view name_of(JobPhase phase) {
  switch (phase) {
    case JobPhase::gathering:
      return "gathering";
    case JobPhase::entering:
      return "entering";
    case JobPhase::training:
      return "training";
    case JobPhase::pausing:
      return "pausing";
    case JobPhase::stopping:
      return "stopping";
    case JobPhase::recovering:
      return "recovering";
    case JobPhase::waiting_for_nodes:
      return "waiting_for_nodes";
    case JobPhase::shutting_down:
      return "shutting_down";
    case JobPhase::finished:
      return "finished";
    case JobPhase::failed:
      return "failed";
  }
  bug(__FILE__, __LINE__, "no such phase");
}

JobMachine::JobMachine(const JobOptions& options, const Cursor& start, Seconds now)
    : options_(options),
      clock_(now),
      phase_began_(now),
      nodes_({.nodes = options.nodes, .restarts = options.restarts, .startable = options.startable}, clock_),
      generation_{.number = options.last_generation, .lead = {}, .entered_at = {}},
      failures_(options.silence, clock_),
      stalls_(options.stuck),
      strategy_(options.policies, options.plan, start.samples_seen, clock_),
      progress_(start, Seconds(options.checkpoint_seconds), clock_) {}

Actions JobMachine::apply(Seconds now, const JobEvent& event) {
  clock_.set(now);
  if (phase_ != JobPhase::finished && phase_ != JobPhase::failed) std::visit([this](const auto& happened) { on(happened); }, event);
  return std::exchange(actions_, {});
}

void JobMachine::on(const GenerationReport& event) {
  if (event.generation != generation_.number) return;
  std::visit([&](const auto& content) { on_report(event.node, content); }, event.content);
}

void JobMachine::on_report(const std::string& node, const Entered& report) {
  if (!has_generation()) return;
  generation_.lead = node;
  generation_.entered_at = report.cursor.step;
  progress_.on_entered(report.cursor, actions_);
  const std::size_t members = nodes_.members().size();
  if (!generation_.is_same_team && (generation_.number > options_.last_generation + 1 || options_.takes_over))
    say(fmt::format("generation {}: {} on after step {}", generation_.number,
                    members == 1 ? std::string("1 node goes") : fmt::format("{} nodes go", members), report.cursor.step));
  if (phase_ == JobPhase::entering) set_phase(JobPhase::training);
}

void JobMachine::on_report(const std::string& /*node*/, const Paused& report) {
  if (!has_generation()) return;
  for (const std::string& node : nodes_.names())
    if (nodes_.at(node).is_leaving) actions_.emplace_back(DismissNode{node});
  strategy_.on_paused(report.cursor);
  // A member died meanwhile: in a moment enough is known to report why, and then all continue without it.
  if (!failures_.failures().empty()) return;
  const std::vector<std::string> before = nodes_.members();
  announce_or_wait();
  generation_.is_same_team = nodes_.members() == before;
}

void JobMachine::on_report(const std::string& node, const Leaving& /*report*/) {
  if (std::exchange(nodes_.at(node).is_leaving, true)) return;
  say(fmt::format("{} was asked to leave", nodes_.title(node)));
  // Too few would remain: all write what they have, and end.
  if (!is_enough(candidates()) && stop_reason_ == StopReason::none) stop_reason_ = StopReason::quorum_lost;
}

void JobMachine::on_report(const std::string& /*node*/, const Finish& report) {
  if (has_generation()) shut_down(report);
}

// Only the lead measures for all.
void JobMachine::on_report(const std::string& node, const StragglerRecord& record) {
  if (generation_.entered_at && node == generation_.lead) strategy_.on_straggler(record, nodes_, cursor(), actions_);
}

void JobMachine::on_report(const std::string& node, const SlowLinkRecord& record) {
  if (generation_.entered_at && node == generation_.lead) strategy_.on_slow_link(record, nodes_, cursor(), actions_);
}

void JobMachine::on(const StepRecord& record) {
  if (!progress_.on_step(record, actions_)) return;
  stalls_.on_step(Seconds(record.input_wait_seconds), Seconds(record.compute_seconds));
  strategy_.on_step(record);
  if (!generation_.entered_at || record.step < *generation_.entered_at + kProgress) return;
  if (!std::exchange(generation_.has_progressed, true)) nodes_.on_progress();
}

void JobMachine::on(const EpochRecord& record) {
  if (progress_.on_epoch(record, actions_)) strategy_.on_epoch(record, actions_);
}

void JobMachine::on(const Tick& event) {
  if (phase_ == JobPhase::gathering) return gather();
  if (phase_ == JobPhase::shutting_down) {
    // A node that does not leave in time is ended by its launcher.
    if (event.connected > 0 && clock_.now() - phase_began_ < kShutdownTimeout) return;
    result_.checkpoint = progress_.checkpoint();
    actions_.emplace_back(Complete{result_});
    return set_phase(JobPhase::finished);
  }
  if (generation_.entered_at) progress_.acknowledge(nodes_.members(), actions_);
  start_due_nodes();
  if (phase_ == JobPhase::recovering && failures_.is_due()) return continue_without_lost();
  if (phase_ == JobPhase::waiting_for_nodes) return announce_if_enough();
  if (phase_ == JobPhase::training || phase_ == JobPhase::pausing) return send_requests();
}

}  // namespace trireme::train
