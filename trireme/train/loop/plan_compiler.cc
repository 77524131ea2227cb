// SPDX-License-Identifier: Apache-2.0
// How many samples at once a phase of the plan needs.
#include "trireme/train/loop/plan_compiler.h"

#include <algorithm>

#include "trireme/data/source/division.h"
#include "trireme/train/job/strategy_entry.h"

namespace trireme::train {
namespace {

constexpr double kMaxCompileOversize = 1.125;  // of what is compiled, over what the strategy of now needs

// The most samples this worker can get of a batch: the last one of an epoch is divided anew.
std::int64_t largest_part(std::int64_t batch_size, std::int64_t samples, const std::vector<double>& shares, int rank) {
  batch_size = std::min(batch_size, samples);
  const std::int64_t full = data::part_of(batch_size, shares, rank).size();
  return std::max(full, data::part_of(samples % batch_size, shares, rank).size());
}

}  // namespace

void PlanCompiler::compile(std::int64_t samples) {
  if (samples == 0) return;
  setup_.state.replica.compile(samples);
  setup_.evaluation.compile();
}

std::int64_t PlanCompiler::capacity_in(const StrategyPart& part, const std::vector<double>& shares, int rank) const {
  const StrategyEntry& entry = find_strategy(part.name);
  const std::int64_t batch_size = setup_.job.train.batch_size;
  const auto size = static_cast<int>(shares.size());
  if (entry.capacity != nullptr && size > 1) return entry.capacity(part.options, batch_size, rank, size);
  return largest_part(batch_size, setup_.samples, shares, rank);
}

// Compiling again would be the longest part of a switch, but a batch that is much smaller than what was compiled wastes more than that.
std::int64_t PlanCompiler::capacity(const std::vector<double>& shares, int rank) const {
  const std::int64_t now = capacity_in(setup_.plan.at(setup_.state.cursor.samples_seen).strategy, shares, rank);
  std::int64_t most = now;
  for (const Phase& phase : setup_.plan.phases) {
    const std::int64_t then = capacity_in(phase.strategy, shares, rank);
    if (static_cast<double>(then) <= kMaxCompileOversize * static_cast<double>(now)) most = std::max(most, then);
  }
  return most;
}

void PlanCompiler::prepare(int rank, int size, bool times_all) {
  const std::vector<double> even(static_cast<std::size_t>(size), 1.0);
  const std::int64_t now = capacity(even, rank);
  if (times_all)
    for (const Phase& phase : setup_.plan.phases)
      if (const std::int64_t then = capacity_in(phase.strategy, even, rank); then > now) compile(then);
  compile(now);
}

}  // namespace trireme::train
