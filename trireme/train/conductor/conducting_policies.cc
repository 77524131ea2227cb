// SPDX-License-Identifier: Apache-2.0
// What the conductor does by itself because of what was measured: with stragglers, and with a switch that is left to a policy.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trireme/train/conductor/conducting.h"

namespace trireme::train {

// Out, unless too few would be left; or at the end: servers are on the first nodes, and all would wait for a slow one.
void Conducting::place_stragglers(std::vector<std::string>& nodes) const {
  const auto is_quick = [&](const std::string& node) { return node != detour_->straggler; };
  if (detour_) std::stable_partition(nodes.begin(), nodes.end(), is_quick);
  const auto slow = std::ranges::count_if(nodes, [&](const std::string& node) { return stragglers_.is_out(node); });
  if (std::ssize(nodes) - slow < std::max(options_.min_nodes, 1)) return;
  std::erase_if(nodes, [&](const std::string& node) { return stragglers_.is_out(node); });
}

bool Conducting::waits_for_the_slowest() const { return train::waits_for_the_slowest(plan_.at(conductor_.cursor_.samples_seen).strategy); }

void Conducting::hear(const std::string& node, const StragglerRecord& record) {
  // Ranks of an older generation are others' now.
  if (!has_entered_ || node != lead_ || record.rank >= std::ssize(members_)) return;
  if (switch_policy_) switch_policy_->hear(record);
  if (record.rank < 0) return hear_that_nobody_is_slow();
  const std::string& slow = members_[static_cast<std::size_t>(record.rank)];
  const bool is_minded = options_.policies.straggler == StragglerPolicy::Rule::shares || detour_ || waits_for_the_slowest();
  const bool acts = is_minded && stragglers_.slow(slow);
  if (std::exchange(straggler_, slow) == slow && !acts) return;  // told already
  if (acts && stragglers_.wants_async()) go_out_of_step(slow);
  tell(slow, record);
  if (stragglers_.is_out(slow)) straggler_.clear();  // if it is slow again when it comes back, that is news
}

// Nothing is done about it: whatever the others do, they wait for this link. Named once.
void Conducting::on_slow_link(const std::string& node, const SlowLinkRecord& record) {
  if (!has_entered_ || node != lead_ || record.rank < 0 || record.rank >= std::ssize(members_)) return;
  const std::string& slow = members_[static_cast<std::size_t>(record.rank)];
  if (std::exchange(slow_link_, slow) == slow) return;
  options_.say(fmt::format("{} has a slow link: {:.1f} Mbit/s, where {:.1f} are usual here; {:.0f} % of a step is waiting for exchange",
                           title(slow), 8e-6 * record.bytes_per_second, 8e-6 * record.typical, 100 * record.wait_share));
  const observe::Fields fields{{"node", slow},
                               {"host", host_of(slow)},
                               {"bytes_per_second", record.bytes_per_second},
                               {"typical", record.typical},
                               {"wait_share", record.wait_share},
                               {"step", conductor_.cursor_.step}};
  event("slow_link", fields);
  if (options_.record) options_.record("slow_link", fields);
}

void Conducting::hear_that_nobody_is_slow() {
  if (!stragglers_.nobody(members_)) return;
  const std::string recovered = std::exchange(straggler_, "");
  options_.say(fmt::format("{} is not slow any more", title(recovered)));
  const observe::Fields fields{{"node", recovered}, {"host", host_of(recovered)}, {"step", conductor_.cursor_.step}};
  event("straggler_over", fields);
  if (options_.record) options_.record("straggler_over", fields);
  go_back_to_the_plan();
}

void Conducting::go_out_of_step(const std::string& straggler) {
  detour_ = {.plan = plan_, .straggler = straggler};
  const auto others = static_cast<std::int64_t>(members_.size()) - 1;
  switch_to(with_servers(options_.policies.asynchronous, others), false, fmt::format("node {} is slow", straggler));
}

// As it would be if there had been no straggler.
void Conducting::go_back_to_the_plan() {
  if (!detour_) return;
  const Plan plan = std::exchange(detour_, std::nullopt)->plan;
  switch_to(plan.at(conductor_.cursor_.samples_seen).strategy, false, "nobody is slow any more");
  change_->later = plan.phases;
}

// A run that goes on may have gone or come back already.
void Conducting::begin_switch_policy() {
  if (!options_.policies.second) return;
  switch_policy_.emplace(options_.policies.batch_size, options_.policies.epochs);
  for (std::size_t i = 0; i <= plan_.phase_at(conductor_.cursor_.samples_seen); ++i)
    switch_policy_->runs(part_of(text_of(plan_.phases[i].strategy)));
}

SwitchPolicy::Part Conducting::part_of(const std::string& strategy) const {
  return strategy == text_of(*options_.policies.second) ? SwitchPolicy::Part::second : SwitchPolicy::Part::first;
}

void Conducting::judge(const EpochRecord& record) {
  if (!switch_policy_) return;
  const SwitchPolicy::Verdict verdict = switch_policy_->judge(record);
  tell(verdict);
  if (verdict.decision == SwitchPolicy::Decision::stay) return;
  const bool goes = verdict.decision == SwitchPolicy::Decision::go;
  switch_to(goes ? *options_.policies.second : plan_.phases.front().strategy, options_.policies.resets_slots, "auto");
}

void Conducting::tell(const SwitchPolicy::Verdict& verdict) const {
  const observe::Fields fields = fields_of(verdict);
  event("verdict", fields);
  if (options_.record) options_.record("verdict", fields);
  if (verdict.decision == SwitchPolicy::Decision::stay) return;
  const bool goes = verdict.decision == SwitchPolicy::Decision::go;
  options_.say(fmt::format("after epoch {} it {} {}: {}", verdict.epoch + 1, goes ? "goes on with" : "goes back to",
                           text_of(goes ? *options_.policies.second : plan_.phases.front().strategy), verdict.reason));
}

void Conducting::tell(const std::string& node, const StragglerRecord& record) {
  std::string action = "told";
  std::string consequence;
  if (options_.policies.straggler == StragglerPolicy::Rule::shares) {
    action = "shares";
    consequence = fmt::format("; its share of the work is now {:.0f} %", 100 * record.share);
  } else if (stragglers_.is_out(node)) {
    action = "drop";
    consequence = fmt::format("; it is left out for {:g} s", stragglers_.pause(node).count());
  } else if (detour_) {
    action = "async";
    consequence = "; nobody waits for it while that lasts";
  }
  options_.say(
      fmt::format("{} is slow: it takes {:.1f} times as long for a sample as the others{}", title(node), record.slowness, consequence));
  const observe::Fields fields{{"node", node},
                               {"host", host_of(node)},
                               {"slowness", record.slowness},
                               {"share", record.share},
                               {"action", action},
                               {"pause_seconds", action == "drop" ? stragglers_.pause(node).count() : 0.0},
                               {"step", conductor_.cursor_.step}};
  event("straggler", fields);
  if (options_.record) options_.record("straggler", fields);
}

}  // namespace trireme::train
