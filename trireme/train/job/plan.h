// SPDX-License-Identifier: Apache-2.0
// Which strategy trains which part of the samples: the phases of a training, one after another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/train/job/strategy_text.h"

namespace trireme::train {

struct StrategyRequest;

// [strategy] name = "switch"
struct SwitchOptions {
  std::string from = "allreduce";
  std::string to = "ps:async";
  std::string at = "0.5";
  std::vector<std::string> schedule;  // instead: "allreduce", "ps:bsp at 0.25", "allreduce at 0.75"
  std::string slots = "carry";
};
void describe(SwitchOptions& o, OptionVisitor& visit);

struct Phase {
  std::int64_t begin = 0;  // samples seen
  StrategyPart strategy;
  bool resets_slots = false;  // of the optimizer, when it begins; otherwise they are carried over
  std::string why;            // "at 0.5", "by hand"
};

struct PlanSpan {
  std::int64_t samples_per_epoch = 1;
  std::int64_t epochs = 1;
  std::int64_t batch_size = 1;
  std::int64_t samples() const { return samples_per_epoch * epochs; }
};

struct Plan {
  std::vector<Phase> phases;  // the first begins at 0, each of the others later than the one before
  std::int64_t until = 0;     // samples after which to stop; 0: at the end

  std::size_t phase_at(std::int64_t samples) const;
  const Phase& at(std::int64_t samples) const { return phases[phase_at(samples)]; }
  // Samples at which all stop next, to go on otherwise or not at all; far away if there is no such place.
  std::int64_t next_stop(std::int64_t samples) const;
  bool ends_at(std::int64_t samples) const { return until > 0 && samples >= until; }
  // From `samples` on something else, whatever was planned for later. Nothing changes if that is what runs there already.
  void change(std::int64_t samples, StrategyPart strategy, bool resets_slots, std::string why);
};

// Points are moved up to the next full batch of their epoch, so that a switch does not change which samples make a batch.
Plan plan_of(const StrategyRequest& request, const PlanSpan& span);
// "0.25" of all samples, "3" epochs, or "6400 samples", as samples seen. Throws invalid_argument.
std::int64_t point_of(std::string_view text, const PlanSpan& span, std::string_view place);

// "allreduce; ps:async at 6400 samples", and back.
std::string text_of(const Plan& plan);
Plan parse_plan(std::string_view text);

// Throws what is wrong with the texts, as far as that can be checked without the data.
void check_switch(const SwitchOptions& options);
// All that take part, in order; where `at` is left to a policy, both.
std::vector<StrategyPart> parts_of(const SwitchOptions& options);
bool is_automatic(const SwitchOptions& options);  // `at` is left to a policy

}  // namespace trireme::train
