// SPDX-License-Identifier: Apache-2.0
// Plans and switches as messages.
#include "trireme/base/error.h"
#include "trireme/train/messages/message_parsing.h"
#include "trireme/train/messages/reports.h"
#include "trireme/wire/training.pb.h"

namespace trireme::train {
std::string pack(const SwitchRecord& record) {
  wire::SwitchReport out;
  out.set_step(record.step);
  out.set_epoch(record.epoch);
  out.set_samples_seen(record.samples_seen);
  out.set_from(record.from);
  out.set_to(record.to);
  out.set_why(record.why);
  out.set_slots_reset(record.slots_reset);
  out.set_state_was_shared(record.state_was_shared);
  out.set_learning_rate(record.learning_rate);
  out.set_rate_factor_before(record.rate_factor_before);
  out.set_rate_factor(record.rate_factor);
  out.set_worker_batch_before(record.worker_batch_before);
  out.set_worker_batch(record.worker_batch);
  out.set_workers_before(record.workers_before);
  out.set_workers(record.workers);
  out.set_seconds(record.seconds);
  out.set_drain_seconds(record.drain_seconds);
  out.set_agree_seconds(record.agree_seconds);
  out.set_state_seconds(record.state_seconds);
  out.set_begin_seconds(record.begin_seconds);
  return out.SerializeAsString();
}

SwitchRecord unpack_switch(const std::string& bytes) {
  const auto in = parse_message<wire::SwitchReport>(bytes);
  return {.step = in.step(),
          .epoch = in.epoch(),
          .samples_seen = in.samples_seen(),
          .from = in.from(),
          .to = in.to(),
          .why = in.why(),
          .slots_reset = in.slots_reset(),
          .state_was_shared = in.state_was_shared(),
          .learning_rate = in.learning_rate(),
          .rate_factor_before = in.rate_factor_before(),
          .rate_factor = in.rate_factor(),
          .worker_batch_before = in.worker_batch_before(),
          .worker_batch = in.worker_batch(),
          .workers_before = in.workers_before(),
          .workers = in.workers(),
          .seconds = in.seconds(),
          .drain_seconds = in.drain_seconds(),
          .agree_seconds = in.agree_seconds(),
          .state_seconds = in.state_seconds(),
          .begin_seconds = in.begin_seconds()};
}

std::string pack(const SwitchWish& wish) {
  wire::SwitchRequest out;
  out.set_to(wish.to);
  out.set_resets_slots(wish.resets_slots);
  return out.SerializeAsString();
}

SwitchWish unpack_wish(const std::string& bytes) {
  const auto in = parse_message<wire::SwitchRequest>(bytes);
  return {.to = in.to(), .resets_slots = in.resets_slots()};
}

std::string pack(const Plan& plan) {
  wire::PlanReport out;
  for (const Phase& phase : plan.phases) {
    wire::PhaseReport& to = *out.add_phases();
    to.set_begin(phase.begin);
    to.set_strategy(text_of(phase.strategy));
    to.set_resets_slots(phase.resets_slots);
    to.set_why(phase.why);
  }
  out.set_until(plan.until);
  return out.SerializeAsString();
}

Plan unpack_plan(const std::string& bytes) {
  const auto in = parse_message<wire::PlanReport>(bytes);
  Plan plan{.until = in.until()};
  for (const wire::PhaseReport& phase : in.phases())
    plan.phases.push_back({.begin = phase.begin(),
                           .strategy = parse_strategy(phase.strategy(), "the plan"),
                           .resets_slots = phase.resets_slots(),
                           .why = phase.why()});
  if (plan.phases.empty() || plan.phases.front().begin != 0) throw Error{data_loss, "a plan without a beginning"};
  return plan;
}

}  // namespace trireme::train
