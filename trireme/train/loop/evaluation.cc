// SPDX-License-Identifier: Apache-2.0
// A part of the samples for each worker, and the sums over all.
#include "trireme/train/loop/evaluation.h"

#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "trireme/data/source/division.h"
#include "trireme/data/source/subset.h"

namespace trireme::train {
namespace {

// Samples of `source` that worker `rank` evaluates: all who compute do their even part.
std::shared_ptr<const data::Source> evaluation_part(const std::shared_ptr<const data::Source>& source, int rank,
                                                    std::vector<double> shares) {
  if (shares.size() == 1) return source;
  for (double& share : shares) share = share > 0 ? 1 : 0;
  const data::Range part = data::part_of(source->size(), shares, rank);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(part.size()));
  std::iota(indices.begin(), indices.end(), part.begin);
  return std::make_shared<data::Subset>(source, std::move(indices));
}

}  // namespace

void Evaluation::compile() {
  if (evaluator_) return;
  evaluator_.emplace(setup_.job.graph,
                     Evaluator::Options{.batch_size = setup_.job.train.batch_size,
                                        .threads = static_cast<int>(setup_.job.train.threads),
                                        .algorithm_cache = setup_.algorithm_cache,
                                        .gives_up = setup_.gives_up,
                                        // As in a step, so that a read that hangs is known for one.
                                        .waits = [&monitor = setup_.monitor] { monitor.at("wait"); },
                                        .moved = [&monitor = setup_.monitor] { monitor.at("evaluate"); }},
                     setup_.clock);
}

Score Evaluation::score(const std::shared_ptr<const data::Source>& samples, WorkGroup& group, const ModelValues& model) {
  Team& team = group.team;
  const auto part = evaluation_part(samples, team.rank(), group.shares);
  Score own;
  if (part->size() > 0) own = evaluator_->score(part, setup_.data.normalization, model);
  if (team.is_alone()) return own;
  const auto count = static_cast<double>(own.samples);
  std::array<double, 3> sums{count, own.loss * count, std::round(own.accuracy * count)};
  team.sum(sums, team.patience());
  return {.samples = std::llround(sums[0]), .loss = sums[1] / sums[0], .accuracy = sums[2] / sums[0]};
}

}  // namespace trireme::train
