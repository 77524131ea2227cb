// SPDX-License-Identifier: Apache-2.0
// From one phase to the next: gathering, one generation after another, recovery, the end.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "trireme/train/conductor/gathering.h"
#include "trireme/train/conductor/job_machine.h"

namespace trireme::train {
namespace {

constexpr int kStrikes = 2;  // a node that a peer can't reach so often is left out for a while

std::string count_text(std::size_t nodes) { return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"); }

}  // namespace

void JobMachine::set_phase(JobPhase phase) {
  if (std::exchange(phase_, phase) != phase) phase_began_ = clock_.now();
}

bool JobMachine::has_generation() const { return phase_ >= JobPhase::entering && phase_ <= JobPhase::waiting_for_nodes; }

void JobMachine::gather() {
  const Seconds waited = clock_.now() - phase_began_;
  if (!options_.takes_over || waited > kReturn / 2) start_due_nodes();
  if (stop_reason_ == StopReason::user) return shut_down({.interrupted = true, .cursor = cursor(), .test = {}});
  const std::vector<std::string> ready = candidates();
  switch (check_gathered(options_, nodes_, ready.size(), waited)) {
    case Gathered::waiting:
      return;
    case Gathered::enough:
      return announce(ready);
    case Gathered::too_few:
      return fail(Error{deadline_exceeded, "{}", missing_text(nodes_, waited)});
  }
}

// Nodes that could be members now, in order of ranks.
std::vector<std::string> JobMachine::candidates() const {
  std::vector<std::string> out = nodes_.available();
  std::erase_if(out, [&](const std::string& node) { return nodes_.find(node)->is_leaving; });
  strategy_.place_stragglers(out, options_.min_nodes);
  if (options_.max_nodes > 0 && out.size() > static_cast<std::size_t>(options_.max_nodes)) {
    std::vector<std::string> chosen = out;
    std::stable_partition(chosen.begin(), chosen.end(), [&](const std::string& node) { return nodes_.find(node)->rank.has_value(); });
    chosen.resize(static_cast<std::size_t>(options_.max_nodes));
    std::erase_if(out, [&](const std::string& node) { return std::ranges::find(chosen, node) == chosen.end(); });
  }
  return out;
}

bool JobMachine::is_enough(const std::vector<std::string>& nodes) const {
  return nodes.size() >= static_cast<std::size_t>(options_.min_nodes);
}

void JobMachine::announce(const std::vector<std::string>& nodes) {
  coord::Generation generation{.number = generation_.number + 1, .members = {}, .plan = pack(strategy_.plan())};
  for (const std::string& name : nodes) {
    const coord::NodeInfo& info = *nodes_.at(name).info;
    generation.members.push_back({.node = name, .host = info.host, .address = info.address});
  }
  nodes_.assign_ranks(nodes);
  generation_ = {.number = generation.number, .lead = nodes.front(), .entered_at = {}};
  actions_.emplace_back(AnnounceGeneration{std::move(generation), cursor()});
  failures_.clear();
  progress_.begin_generation();
  set_phase(JobPhase::entering);
}

void JobMachine::continue_without_lost() {
  for (const auto& [node, failure] : failures_.failures()) report(node, failure);
  if (const auto error = common_error()) return fail(*error);
  if (failures_.failures().empty() && failures_.first_peer_report()) on_unreachable(*failures_.first_peer_report());
  announce_or_wait();
}

// An error that all workers meet is the job's, not a machine's.
std::optional<Error> JobMachine::common_error() const {
  const std::vector<std::string> members = nodes_.members();
  for (const std::string& node : members) {
    const auto found = failures_.failures().find(node);
    if (found == failures_.failures().end() || found->second.evidence != Failure::Evidence::own_error) return {};
  }
  if (members.empty()) return {};
  return error_of(members.front(), failures_.failures().at(members.front()));
}

// Both are connected, but can't reach each other. The first time it may have been a short disturbance. A node that can't name the peer
// has lost more than one of them: its own connection is the likelier cause.
void JobMachine::on_unreachable(const PeerReport& report) {
  const std::string& suspect = report.about.empty() ? report.by : report.about;
  Node& node = nodes_.at(suspect);
  const bool is_left_out = ++node.strikes >= kStrikes;
  say(fmt::format("{} misses {}, but both are here ({}): trying again{}", nodes_.title(report.by),
                  report.about.empty() ? "a peer" : nodes_.title(report.about), report.text,
                  is_left_out ? fmt::format(" without {} for a while", nodes_.title(suspect)) : ""));
  if (is_left_out) node.pause(clock_.now());
}

void JobMachine::announce_or_wait() {
  const std::vector<std::string> next = candidates();
  if (is_enough(next)) return announce(next);
  if (stop_reason_ == StopReason::quorum_lost) return give_up(next);
  failures_.clear();
  set_phase(JobPhase::waiting_for_nodes);
  say(fmt::format("{} of at least {} here: waiting for more", count_text(next.size()), options_.min_nodes));
}

void JobMachine::announce_if_enough() {
  const std::vector<std::string> next = candidates();
  if (is_enough(next)) return announce(next);
  const bool is_over = stop_reason_ == StopReason::user || clock_.now() - phase_began_ > options_.start_timeout;
  if (is_over || !may_another_join()) give_up(next);
}

// Also one that is back already and waits for the end of its pause.
bool JobMachine::may_another_join() const {
  const std::vector<std::string> now = candidates();
  return std::ranges::any_of(nodes_.names(), [&](const std::string& node) {
    return !nodes_.is_left_out(node) && !nodes_.find(node)->is_leaving && std::ranges::find(now, node) == now.end();
  });
}

// The remaining nodes write what they have; then the job ends, to be resumed with more machines.
void JobMachine::give_up(const std::vector<std::string>& remaining) {
  if (stop_reason_ == StopReason::none) stop_reason_ = StopReason::quorum_lost;
  if (!remaining.empty()) return announce(remaining);
  if (stop_reason_ != StopReason::user && last_failure_) return fail(*last_failure_);
  shut_down({.interrupted = true, .cursor = cursor(), .test = {}});
}

// All members agree on a request of the lead in the step that follows, or when they meet. The lead is known once they have entered:
// another node's request would not be received in a stretch of leases.
void JobMachine::send_requests() {
  if (stop_reason_ != StopReason::none) {
    request({.stop = true});
    return set_phase(JobPhase::stopping);
  }
  if (progress_.start_checkpoint_if_due()) request({.checkpoint = true});
  if (phase_ == JobPhase::pausing) return;
  const std::vector<std::string> next = candidates();
  if (!strategy_.has_change() && (next == nodes_.members() || !is_enough(next))) return;
  request({.regroup = true});
  set_phase(JobPhase::pausing);
}

void JobMachine::request(const Requests& requests) { actions_.emplace_back(SendRequest{generation_.lead, requests}); }

void JobMachine::shut_down(const Finish& finish) {
  const bool by_user = stop_reason_ == StopReason::user;
  progress_.on_finished(finish.cursor);
  result_.test = finish.test;
  result_.ending = stop_reason_ == StopReason::quorum_lost                                                  ? Ending::quorum_lost
                   : strategy_.plan().ends_at(finish.cursor.samples_seen) && !by_user && finish.interrupted ? Ending::until
                   : finish.interrupted                                                                     ? Ending::interrupted
                   : finish.stopped_early                                                                   ? Ending::stopped_early
                                                                                                            : Ending::completed;
  if (result_.test.samples > 0) actions_.emplace_back(Observe<Score>{result_.test});
  actions_.emplace_back(DismissAll{});
  set_phase(JobPhase::shutting_down);
}

void JobMachine::fail(const Error& error) {
  actions_.emplace_back(Fail{error});
  set_phase(JobPhase::failed);
}

void JobMachine::report(const std::string& node, const Failure& failure) {
  last_failure_ = error_of(node, failure);
  say(last_failure_->what() + std::string(nodes_.is_left_out(node) ? "; it failed too often and is left out" : ""));
  actions_.emplace_back(WriteRecord{"lost",
                                    {{"node", node},
                                     {"host", nodes_.at(node).host()},
                                     {"step", cursor().step},
                                     {"phase", failure.progress.phase},
                                     {"cause", failure.cause}}});
}

Error JobMachine::error_of(const std::string& node, const Failure& failure) const {
  const coord::Progress& progress = failure.progress;
  std::string where;
  if (progress.step > 0)
    where = fmt::format(" in step {} ({})", progress.step, progress.phase);
  else if (cursor().step > 0)  // it was lost before its next heartbeat; the others know how far all had come
    where = fmt::format(" after step {}", cursor().step);
  else if (!progress.phase.empty())
    where = fmt::format(" ({})", progress.phase);
  return Error{failure.code, "{} {}{}: {}", nodes_.title(node), failure.what, where, failure.cause};
}

}  // namespace trireme::train
