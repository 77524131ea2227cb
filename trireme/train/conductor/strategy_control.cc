// SPDX-License-Identifier: Apache-2.0
// Changes of the plan, and what is reported of them.
#include "trireme/train/conductor/strategy_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trireme::train {

// A run that continues may have switched, or switched back, already.
StrategyControl::StrategyControl(const Policies& policies, Plan plan, std::int64_t samples_seen, const Clock& clock)
    : policies_(policies), plan_(std::move(plan)), stragglers_(policies.straggler, clock) {
  if (!policies_.second) return;
  switch_policy_.emplace(policies_.batch_size, policies_.epochs);
  for (std::size_t i = 0; i <= plan_.phase_at(samples_seen); ++i) switch_policy_->on_begin(part_of(text_of(plan_.phases[i].strategy)));
}

SwitchPolicy::Part StrategyControl::part_of(const std::string& strategy) const {
  return strategy == text_of(*policies_.second) ? SwitchPolicy::Part::second : SwitchPolicy::Part::first;
}

void StrategyControl::place_stragglers(std::vector<std::string>& nodes, int min_nodes) const {
  const auto is_fast = [&](const std::string& node) { return node != detour_->straggler; };
  if (detour_) std::stable_partition(nodes.begin(), nodes.end(), is_fast);
  const auto slow = std::ranges::count_if(nodes, [&](const std::string& node) { return stragglers_.is_out(node); });
  if (std::ssize(nodes) - slow < std::max(min_nodes, 1)) return;
  std::erase_if(nodes, [&](const std::string& node) { return stragglers_.is_out(node); });
}

void StrategyControl::on_switch_request(const SwitchRequest& request) {
  detour_.reset();
  change_ = Change{.strategy = parse_strategy(request.to, "--to"), .resets_slots = request.resets_slots, .why = "by hand"};
}

void StrategyControl::on_paused(const Cursor& cursor) {
  if (!change_) return;
  plan_.change(cursor.samples_seen, std::move(change_->strategy), change_->resets_slots, std::move(change_->why));
  for (Phase& phase : change_->later)
    if (phase.begin > cursor.samples_seen) plan_.phases.push_back(std::move(phase));
  change_.reset();
}

void StrategyControl::on_step(const StepRecord& record) {
  if (switch_policy_) switch_policy_->on_step(record);
}

void StrategyControl::on_epoch(const EpochRecord& record, Actions& out) {
  if (!switch_policy_) return;
  const SwitchPolicy::Verdict verdict = switch_policy_->judge(record);
  report(verdict, out);
  if (verdict.decision == SwitchPolicy::Decision::stay) return;
  const bool goes = verdict.decision == SwitchPolicy::Decision::go;
  change_ =
      Change{.strategy = goes ? *policies_.second : plan_.phases.front().strategy, .resets_slots = policies_.resets_slots, .why = "auto"};
}

void StrategyControl::report(const SwitchPolicy::Verdict& verdict, Actions& out) const {
  const observe::Fields fields = fields_of(verdict);
  out.emplace_back(WriteEvent{"verdict", fields});
  out.emplace_back(WriteRecord{"verdict", fields});
  if (verdict.decision == SwitchPolicy::Decision::stay) return;
  const bool goes = verdict.decision == SwitchPolicy::Decision::go;
  out.emplace_back(Say{fmt::format("after epoch {} it {} {}: {}", verdict.epoch + 1, goes ? "goes on with" : "goes back to",
                                   text_of(goes ? *policies_.second : plan_.phases.front().strategy), verdict.reason)});
}

void StrategyControl::on_switched(const SwitchRecord& record, Actions& out) {
  if (switch_policy_) switch_policy_->on_begin(part_of(record.to));
  out.emplace_back(Observe<SwitchRecord>{record});
  out.emplace_back(
      Say{fmt::format("switched ({}) after step {} from {} to {}: {} worker{} with batches of {}, learning rate {:g}; it took {:.2f} s",
                      record.why, record.step, record.from, record.to, record.workers, record.workers == 1 ? "" : "s", record.worker_batch,
                      record.learning_rate * record.rate_factor, record.seconds)});
}

void StrategyControl::on_server(const ServerRecord& record, Actions& out) {
  out.emplace_back(Observe<ServerRecord>{record});
  if (record.servers_needed <= record.servers || std::exchange(has_advised_servers_, true)) return;
  const std::string advice = record.servers_needed <= record.workers
                                 ? fmt::format("{} would keep up (strategy.servers)", record.servers_needed)
                                 : "the steps are too short for it; take a larger train.batch_size, or allreduce";
  out.emplace_back(Say{fmt::format("the workers wait {:.0f} % of their time for the parameter server{}: {}", 100 * record.wait_share,
                                   record.servers == 1 ? "" : "s", advice)});
}

}  // namespace trireme::train
