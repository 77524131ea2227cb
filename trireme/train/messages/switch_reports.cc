// SPDX-License-Identifier: Apache-2.0
// Plans, and switches that a user asks for, as messages.
#include "trireme/base/error.h"
#include "trireme/train/messages/message_parsing.h"
#include "trireme/train/messages/reports.h"
#include "trireme/wire/training.pb.h"

namespace trireme::train {

std::string pack(const SwitchRequest& request) {
  wire::SwitchRequest out;
  out.set_to(request.to);
  out.set_resets_slots(request.resets_slots);
  return out.SerializeAsString();
}

SwitchRequest unpack_switch_request(const std::string& bytes) {
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
