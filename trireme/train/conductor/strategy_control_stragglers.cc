// SPDX-License-Identifier: Apache-2.0
// What becomes of stragglers: left out, or a detour without waiting for them; and slow links, which are only reported.
#include <fmt/format.h>

#include <utility>

#include "trireme/train/conductor/strategy_control.h"

namespace trireme::train {
namespace {

std::string host_of(const NodeTable& nodes, const std::string& node) {
  const Node* const entry = nodes.find(node);
  return entry == nullptr ? "" : entry->host();
}

void write(std::string_view type, const observe::Fields& fields, Actions& out) {
  out.emplace_back(WriteEvent{type, fields});
  out.emplace_back(WriteRecord{type, fields});
}

}  // namespace

void StrategyControl::on_straggler(const StragglerRecord& record, const NodeTable& nodes, const Cursor& cursor, Actions& out) {
  const std::vector<std::string> members = nodes.members();
  if (record.rank >= std::ssize(members)) return;
  if (switch_policy_) switch_policy_->on_straggler(record);
  if (record.rank < 0) return on_no_straggler(nodes, cursor, out);
  const std::string& slow = members[static_cast<std::size_t>(record.rank)];
  const bool holds_others_up =
      policies_.straggler == StragglerPolicy::Rule::shares || detour_ || waits_for_the_slowest(plan_.at(cursor.samples_seen).strategy);
  const bool acts = holds_others_up && stragglers_.slow(slow);
  if (std::exchange(reported_straggler_, slow) == slow && !acts) return;
  if (acts && stragglers_.wants_async()) begin_detour(slow, std::ssize(members));
  report(slow, record, nodes, cursor, out);
  if (stragglers_.is_out(slow)) reported_straggler_.clear();  // if it is slow again when it is back, that is reported again
}

void StrategyControl::on_no_straggler(const NodeTable& nodes, const Cursor& cursor, Actions& out) {
  if (!stragglers_.nobody(nodes.members())) return;
  const std::string recovered = std::exchange(reported_straggler_, "");
  out.emplace_back(Say{fmt::format("{} is not slow any more", nodes.title(recovered))});
  write("straggler_over", {{"node", recovered}, {"host", host_of(nodes, recovered)}, {"step", cursor.step}}, out);
  end_detour(cursor);
}

void StrategyControl::begin_detour(const std::string& straggler, std::int64_t members) {
  detour_ = {.plan = plan_, .straggler = straggler};
  change_ = Change{.strategy = with_servers(policies_.asynchronous, members - 1), .why = fmt::format("node {} is slow", straggler)};
}

// As it would be if there had been no straggler.
void StrategyControl::end_detour(const Cursor& cursor) {
  if (!detour_) return;
  const Plan plan = std::exchange(detour_, std::nullopt)->plan;
  change_ = Change{.strategy = plan.at(cursor.samples_seen).strategy, .why = "no node is slow any more", .later = plan.phases};
}

void StrategyControl::report(const std::string& node, const StragglerRecord& record, const NodeTable& nodes, const Cursor& cursor,
                             Actions& out) const {
  std::string action = "told";
  std::string consequence;
  if (policies_.straggler == StragglerPolicy::Rule::shares) {
    action = "shares";
    consequence = fmt::format("; its share of the work is now {:.0f} %", 100 * record.share);
  } else if (stragglers_.is_out(node)) {
    action = "drop";
    consequence = fmt::format("; it is left out for {:g} s", stragglers_.pause(node).count());
  } else if (detour_) {
    action = "async";
    consequence = "; no node waits for it while that lasts";
  }
  out.emplace_back(Say{fmt::format("{} is slow: it takes {:.1f} times as long for a sample as the others{}", nodes.title(node),
                                   record.slowness, consequence)});
  write("straggler",
        {{"node", node},
         {"host", host_of(nodes, node)},
         {"slowness", record.slowness},
         {"share", record.share},
         {"action", action},
         {"pause_seconds", action == "drop" ? stragglers_.pause(node).count() : 0.0},
         {"step", cursor.step}},
        out);
}

// Nothing is done about it: whatever the others do, they wait for this link. Reported once.
void StrategyControl::on_slow_link(const SlowLinkRecord& record, const NodeTable& nodes, const Cursor& cursor, Actions& out) {
  const std::vector<std::string> members = nodes.members();
  if (record.rank < 0 || record.rank >= std::ssize(members)) return;
  const std::string& slow = members[static_cast<std::size_t>(record.rank)];
  if (std::exchange(reported_slow_link_, slow) == slow) return;
  out.emplace_back(
      Say{fmt::format("{} has a slow link: {:.1f} Mbit/s, where {:.1f} are usual here; {:.0f} % of a step is waiting for exchange",
                      nodes.title(slow), 8e-6 * record.bytes_per_second, 8e-6 * record.typical, 100 * record.wait_share)});
  write("slow_link",
        {{"node", slow},
         {"host", host_of(nodes, slow)},
         {"bytes_per_second", record.bytes_per_second},
         {"typical", record.typical},
         {"wait_share", record.wait_share},
         {"step", cursor.step}},
        out);
}

}  // namespace trireme::train
