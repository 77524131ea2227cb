// SPDX-License-Identifier: Apache-2.0
// Members that stand still: left out while they do, and taken back when they move.
#include <fmt/format.h>

#include <utility>

#include "trireme/train/conductor/conducting.h"
#include "trireme/train/messages/whereabouts.h"

namespace trireme::train {
namespace {

constexpr Seconds kLook{0.25};  // heartbeats come once a second

}  // namespace

std::vector<StallWatch::Member> Conducting::progress_of_members() const {
  std::vector<StallWatch::Member> out;
  for (const std::string& node : members_) out.push_back({node, coordinator_.progress(node)});
  return out;
}

void Conducting::look_for_stalls() {
  if (clock_.now() - last_look_ < kLook || finish_) return;
  last_look_ = clock_.now();
  for (const std::string& node : roll_.all())
    if (roll_.is_stalled(node)) look_for_return(node);
  if (members_.empty() || waiting_since_) return;
  for (const StallWatch::Stalled& stalled : stalls_.look(progress_of_members()))
    if (!roll_.is_stalled(stalled.node)) on_stalled(stalled);
}

void Conducting::on_stalled(const StallWatch::Stalled& stalled) {
  const std::string cause =
      fmt::format("it has been {} for {:.0f} s while {} for it; it is left out until it moves", stalled.doing, stalled.progress.seconds,
                  stalled.waiting == 1 ? "another waits" : fmt::format("{} others wait", stalled.waiting));
  event("lost", {{"node", stalled.node}, {"reason", cause}});
  roll_.stall(stalled.node);
  stalls_.forget(stalled.node);
  troubles_.blame(
      stalled.node,
      {.certainty = Blame::Certainty::lost, .code = deadline_exceeded, .what = "is stuck", .cause = cause, .progress = stalled.progress});
}

// It has come back from where it was and waits for a generation.
void Conducting::look_for_return(const std::string& node) {
  if (coordinator_.progress(node).phase != kRegroup) return;
  roll_.moved(node);
  options_.say(fmt::format("{} moves again: it is taken back at the next boundary", title(node)));
  event("moved", {{"node", node}});
}

// Complaints carry the rank that was missed. If that one only kept silent it may have been waiting itself.
std::string Conducting::missed_by(const std::string& node, const coord::FailureReport& failure) const {
  const bool known = failure.peer >= 0 && failure.peer < std::ssize(members_);
  std::string about = known ? members_[static_cast<std::size_t>(failure.peer)] : "";
  if (failure.code != deadline_exceeded) return about;
  const std::string awaited = StallWatch::awaited(progress_of_members(), about).value_or("");
  return awaited == node ? about : awaited;
}

}  // namespace trireme::train
