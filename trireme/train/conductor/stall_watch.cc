// SPDX-License-Identifier: Apache-2.0
// Limits of phases, learned from how long they take, and which members exceed them.
#include "trireme/train/conductor/stall_watch.h"

#include <algorithm>
#include <array>

#include "trireme/comm/peer_wait.h"

namespace trireme::train {
namespace {

// What a node does without the others.
struct OwnPhase {
  std::string_view name;
  std::string_view doing;
  double factor;       // of the least limit
  double seconds = 0;  // never less
};
// Nothing hangs as a read does; computing is only slow, on a machine that does something else or swaps. Compiling times algorithms.
constexpr std::array<OwnPhase, 5> kOwnPhases{{{"wait", "reading data", 1},
                                              {"compute", "computing", 2},
                                              {"update", "updating weights", 2},
                                              {"evaluate", "evaluating", 2},
                                              {"compile", "compiling", 2, 600}}};
constexpr double kFirst = 4;         // times as long for a phase that no member has completed yet: caches are cold
constexpr double kImplausible = 10;  // times the longest that was seen
constexpr double kConfirm = 2;       // seconds

const OwnPhase* find_phase(std::string_view name) {
  const auto* const found = std::ranges::find(kOwnPhases, name, &OwnPhase::name);
  return found == kOwnPhases.end() ? nullptr : found;
}

bool is_waiting(const coord::Progress& progress) { return progress.waits_for != comm::PeerWait::kNoPeer; }
bool is_working(const coord::Progress& progress) { return !is_waiting(progress) && find_phase(progress.phase) != nullptr; }

}  // namespace

Seconds StallWatch::limit_of(std::string_view phase) const {
  const OwnPhase* const own = find_phase(phase);
  if (own == nullptr) return Seconds(1e9);
  const auto seen = longest_.find(phase);
  const double least = std::max(own->seconds, own->factor * least_.count() * (seen == longest_.end() ? kFirst : 1));
  return Seconds(seen == longest_.end() ? least : std::max(least, kImplausible * seen->second));
}

// A phase has come to an end if its node has moved since; then it took at least as long as its last heartbeat said.
void StallWatch::learn(const Member& member) {
  const auto [entry, is_new] = last_.try_emplace(member.node, member.progress);
  if (is_new) return;
  const coord::Progress before = std::exchange(entry->second, member.progress);
  // A heartbeat seldom meets a short phase; but a node that has done a whole step since the last one was in all of them.
  if (before.step >= 0 && member.progress.step >= before.step + 2) on_step(Seconds(0), Seconds(0));
  if (before.moves == member.progress.moves || !is_working(before)) return;
  const auto suspect = suspects_.find(member.node);
  if (suspect != suspects_.end() && suspect->second.moves == before.moves) return;  // it was stopped, or stood still
  note(before.phase, before.seconds);
}

void StallWatch::note(const std::string& phase, double seconds) {
  double& longest = longest_.try_emplace(phase, seconds).first->second;
  longest = std::max(longest, seconds);
}

void StallWatch::on_step(Seconds reading, Seconds computing) {
  note("wait", reading.count());
  note("compute", computing.count());
  note("update", 0);
}

// When all were stopped together (a terminal's Ctrl-Z) the first heartbeat of each reports a long stay: only one that is still there a
// moment later stalls.
bool StallWatch::is_confirmed(const Member& member) {
  const auto entry = suspects_.try_emplace(member.node, member.progress).first;
  if (entry->second.moves != member.progress.moves) entry->second = member.progress;
  return member.progress.seconds >= entry->second.seconds + kConfirm;
}

std::vector<StallWatch::Stalled> StallWatch::look(const std::vector<Member>& members) {
  for (const Member& member : members) learn(member);
  const auto waiting = static_cast<int>(std::ranges::count_if(
      members, [&](const Member& member) { return is_waiting(member.progress) && member.progress.seconds >= least_.count(); }));
  std::vector<Stalled> out;
  if (waiting == 0) return out;
  for (const Member& member : members) {
    const coord::Progress& progress = member.progress;
    if (!is_working(progress) || progress.seconds < limit_of(progress.phase).count()) continue;
    if (is_confirmed(member)) out.push_back({member.node, progress, std::string(find_phase(progress.phase)->doing), waiting});
  }
  return out;
}

std::optional<std::string> StallWatch::awaited(const std::vector<Member>& members, const std::string& about) {
  auto next = std::ranges::find(members, about, &Member::node);
  for (std::size_t hops = 0; next != members.end() && hops < members.size(); ++hops) {
    if (is_working(next->progress)) return next->node;
    const int rank = next->progress.waits_for;
    next = rank < 0 || rank >= std::ssize(members) ? members.end() : members.begin() + rank;
  }
  const Member* longest = nullptr;
  for (const Member& member : members)
    if (is_working(member.progress) && (longest == nullptr || member.progress.seconds > longest->progress.seconds)) longest = &member;
  if (longest != nullptr) return longest->node;
  return about.empty() ? std::nullopt : std::optional(about);
}

}  // namespace trireme::train
