// SPDX-License-Identifier: Apache-2.0
// What is decided by measurements while a job trains, as its [strategy] asks for it.
#pragma once

#include <cstdint>
#include <optional>

#include "trireme/train/job/plan.h"
#include "trireme/train/job/straggler_policy.h"

namespace trireme::train {

struct Job;
struct StrategyRequest;

struct Policies {
  StragglerPolicy::Rule straggler = StragglerPolicy::Rule::shares;
  StrategyPart asynchronous;           // while a straggler lasts, if that is the rule
  std::optional<StrategyPart> second;  // when to go on with it, from the plan's first, is left to a policy; nothing: is not
  bool resets_slots = false;           // when it does
  std::int64_t batch_size = 1;
  std::int64_t epochs = 1;
};
Policies policies_of(const Job& job);

// Throws what does not fit together.
void check_policies(const StrategyRequest& request);
bool is_automatic(const StrategyRequest& request);
// With so many servers beside the first workers, where it would have them beside all.
StrategyPart with_servers(StrategyPart part, std::int64_t servers);
// In that strategy a slow worker holds the others up.
bool waits_for_the_slowest(const StrategyPart& part);

}  // namespace trireme::train
