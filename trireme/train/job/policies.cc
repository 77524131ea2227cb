// SPDX-License-Identifier: Apache-2.0
// Policies from the options of a job.
#include "trireme/train/job/policies.h"

#include "trireme/base/error.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/parameter_server_options.h"
#include "trireme/train/job/strategy_entry.h"

namespace trireme::train {
namespace {

constexpr std::string_view kPlace = "[strategy]";

const SwitchOptions* switch_of(const StrategyRequest& request) { return std::any_cast<SwitchOptions>(&request.options); }

// The one that a switch goes to, if that fits.
StrategyPart asynchronous_of(const StrategyRequest& request) {
  if (switch_of(request) != nullptr)
    for (StrategyPart& part : parts_of(*switch_of(request)))
      if (!waits_for_the_slowest(part)) return part;
  return parse_strategy("ps:async", kPlace);
}

}  // namespace

bool waits_for_the_slowest(const StrategyPart& part) {
  const StrategyEntry& entry = find_strategy(part.name);
  return entry.waits == nullptr || entry.waits(part.options);
}

StrategyPart with_servers(StrategyPart part, std::int64_t servers) {
  auto* const options = std::any_cast<ParameterServerOptions>(&part.options);
  if (options != nullptr && options->servers == 0 && placement_of(*options).shared && servers > 0) options->servers = servers;
  return part;
}

bool is_automatic(const StrategyRequest& request) { return switch_of(request) != nullptr && is_automatic(*switch_of(request)); }

void check_policies(const StrategyRequest& request) {
  if (request.team.straggler != "async") return;
  if (is_automatic(request))
    throw Error{invalid_argument, R"({}: at = "auto" and straggler = "async" would decide the same; take one of them)", kPlace};
  if (request.team.sync_batch_norm)
    throw Error{invalid_argument, R"({}: sync_batch_norm needs workers in step, which straggler = "async" ends; leave one of them out)",
                kPlace};
}

Policies policies_of(const Job& job) {
  Policies out{.straggler = straggler_rule(job.strategy.team.straggler),
               .asynchronous = asynchronous_of(job.strategy),
               .batch_size = job.train.batch_size,
               .epochs = job.train.epochs};
  if (!is_automatic(job.strategy)) return out;
  const SwitchOptions& options = *switch_of(job.strategy);
  out.second = parse_strategy(options.to, "strategy.to");
  out.resets_slots = options.slots == "reset";
  return out;
}

}  // namespace trireme::train
