// SPDX-License-Identifier: Apache-2.0
// Phases from the texts of a job file.
#include "trireme/train/job/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/train/job/job.h"

namespace trireme::train {
namespace {

constexpr std::string_view kPlace = "[strategy]";
constexpr std::string_view kAt = " at ";
constexpr std::string_view kSamples = " samples";
constexpr std::string_view kReset = " reset";

double number_of(std::string_view text, std::string_view place) {
  double number = 0;
  const char* const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  if (text.empty() || end != text.data() + text.size() || !(number > 0) || !std::isfinite(number))
    throw Error{invalid_argument,
                "{}: '{}' is no point in a training; write a fraction of it (0.25), a number of epochs (3) or of samples (6400 samples)",
                place, text};
  return number;
}

// To the next full batch of its epoch.
std::int64_t aligned(double samples, const PlanSpan& span) {
  const auto whole = static_cast<std::int64_t>(std::floor(samples));
  const std::int64_t epoch = whole / span.samples_per_epoch;
  const std::int64_t offset = whole % span.samples_per_epoch;
  const std::int64_t full = (offset + span.batch_size - 1) / span.batch_size * span.batch_size;
  return epoch * span.samples_per_epoch + std::min(full, span.samples_per_epoch);
}

struct ScheduleEntry {
  std::string strategy;
  std::string point;  // empty: from the beginning
  bool resets = false;
};

ScheduleEntry entry_of(std::string_view text) {
  ScheduleEntry entry;
  if (text.ends_with(kReset)) {
    text.remove_suffix(kReset.size());
    entry.resets = true;
  }
  const auto at = text.find(kAt);
  entry.strategy = text.substr(0, at);
  if (at != std::string_view::npos) entry.point = text.substr(at + kAt.size());
  return entry;
}

// `from`, `to` and `at` as a schedule.
std::vector<std::string> schedule_of(const SwitchOptions& options) {
  if (!options.schedule.empty()) return options.schedule;
  if (is_automatic(options)) return {options.from};
  return {options.from, fmt::format("{}{}{}", options.to, kAt, options.at)};
}

void check_order(const std::vector<Phase>& phases, const PlanSpan& span) {
  for (std::size_t i = 1; i < phases.size(); ++i) {
    if (phases[i].begin <= phases[i - 1].begin)
      throw Error{invalid_argument, "{}: '{}' does not begin later than the strategy before it", kPlace, text_of(phases[i].strategy)};
    if (phases[i].begin >= span.samples())
      throw Error{invalid_argument, "{}: '{}' would begin after {} samples, and the training has {}",
                  kPlace,           text_of(phases[i].strategy),
                  phases[i].begin,  span.samples()};
  }
}

}  // namespace

void describe(SwitchOptions& o, OptionVisitor& visit) {
  visit("from", o.from, "strategy of the beginning, e.g. allreduce, ps:bsp, local_sgd:8", {});
  visit("to", o.to, "strategy after the switch, e.g. ps:async, ps:ssp:4, or with options: ps:async,servers=2,placement=dedicated", {});
  visit("at", o.at, "when: below 1 a fraction of all samples, from 1 on epochs, \"auto\": when measurements say that it pays", {});
  visit("schedule", o.schedule,
        "instead of the three above, any number of switches: [\"allreduce\", \"ps:bsp at 0.25\", \"allreduce at 3\"]");
  visit("slots", o.slots, "of the optimizer (momentum ...) at a switch: go on, or begin at zero", {"carry", "reset"});
}

bool is_automatic(const SwitchOptions& options) { return options.schedule.empty() && options.at == "auto"; }

void check_switch(const SwitchOptions& options) {
  parse_team_strategy(options.to, "strategy.to");
  const std::vector<std::string> schedule = schedule_of(options);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const ScheduleEntry entry = entry_of(schedule[i]);
    parse_team_strategy(entry.strategy, i == 0 ? "strategy.from" : "strategy.schedule");
    if ((i == 0) != entry.point.empty())
      throw Error{invalid_argument, "strategy.schedule: \"{}\": {}", schedule[i],
                  i == 0 ? "the first strategy begins at the beginning; leave out its point"
                         : fmt::format("say when it begins: \"{} at 0.5\"", entry.strategy)};
    if (i > 0) point_of(entry.point, {}, "strategy.at");
  }
}

std::vector<StrategyPart> parts_of(const SwitchOptions& options) {
  std::vector<StrategyPart> parts;
  for (const std::string& text : schedule_of(options)) parts.push_back(parse_strategy(entry_of(text).strategy, kPlace));
  if (is_automatic(options)) parts.push_back(parse_strategy(options.to, kPlace));
  return parts;
}

std::int64_t point_of(std::string_view text, const PlanSpan& span, std::string_view place) {
  if (text.ends_with(kSamples)) return std::llround(number_of(text.substr(0, text.size() - kSamples.size()), place));
  const double number = number_of(text, place);
  return aligned(number * static_cast<double>(number < 1 ? span.samples() : span.samples_per_epoch), span);
}

Plan plan_of(const StrategyRequest& request, const PlanSpan& span) {
  Plan plan;
  const auto* const options = std::any_cast<SwitchOptions>(&request.options);
  if (options == nullptr) {
    plan.phases.push_back({.strategy = {.name = request.name, .options = request.options}, .why = "the job"});
    return plan;
  }
  for (const std::string& text : schedule_of(*options)) {
    const ScheduleEntry entry = entry_of(text);
    Phase phase{.strategy = parse_strategy(entry.strategy, kPlace), .resets_slots = options->slots == "reset", .why = "the job"};
    if (!entry.point.empty()) {
      phase.begin = point_of(entry.point, span, kPlace);
      phase.why = "at " + entry.point;
    }
    plan.phases.push_back(std::move(phase));
  }
  check_order(plan.phases, span);
  return plan;
}

std::size_t Plan::phase_at(std::int64_t samples) const {
  const auto after = std::ranges::upper_bound(phases, samples, {}, &Phase::begin);
  return static_cast<std::size_t>(after - phases.begin()) - 1;
}

std::int64_t Plan::next_stop(std::int64_t samples) const {
  const auto after = std::ranges::upper_bound(phases, samples, {}, &Phase::begin);
  const std::int64_t phase = after == phases.end() ? std::numeric_limits<std::int64_t>::max() : after->begin;
  return until > samples ? std::min(phase, until) : phase;
}

void Plan::change(std::int64_t samples, StrategyPart strategy, bool resets_slots, std::string why) {
  std::erase_if(phases, [&](const Phase& phase) { return phase.begin > 0 && phase.begin >= samples; });
  if (text_of(phases.back().strategy) == text_of(strategy)) return;
  Phase next{.begin = samples, .strategy = std::move(strategy), .resets_slots = resets_slots, .why = std::move(why)};
  if (samples == 0) phases.clear();
  phases.push_back(std::move(next));
}

std::string text_of(const Plan& plan) {
  std::string text = text_of(plan.phases.front().strategy);
  for (std::size_t i = 1; i < plan.phases.size(); ++i)
    text += fmt::format("; {}{}{}{}{}", text_of(plan.phases[i].strategy), kAt, plan.phases[i].begin, kSamples,
                        plan.phases[i].resets_slots ? kReset : "");
  return text;
}

Plan parse_plan(std::string_view text) {
  constexpr std::string_view kNext = "; ";
  Plan plan;
  for (;;) {
    const auto end = text.find(kNext);
    const ScheduleEntry entry = entry_of(text.substr(0, end));
    const std::int64_t begin = entry.point.empty() ? 0 : point_of(entry.point, {}, "a plan");
    if ((begin == 0) != plan.phases.empty()) throw Error{invalid_argument, "a plan: phases are not in order"};
    plan.phases.push_back(
        {.begin = begin, .strategy = parse_strategy(entry.strategy, "a plan"), .resets_slots = entry.resets, .why = "the run so far"});
    if (end == std::string_view::npos) return plan;
    text.remove_prefix(end + kNext.size());
  }
}

}  // namespace trireme::train
