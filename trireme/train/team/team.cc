// SPDX-License-Identifier: Apache-2.0
// Collectives in the words of training.
#include "trireme/train/team/team.h"

#include <algorithm>
#include <array>
#include <vector>

namespace trireme::train {

Team::Team(comm::Communicator communicator, Seconds timeout, std::uint64_t generation, Neighbours neighbours)
    : communicator_(std::move(communicator)), timeout_(timeout), generation_(generation), neighbours_(std::move(neighbours)) {}

Team Team::alone() {
  comm::MemoryStore store;
  return {comm::Communicator::connect(store, {.rank = 0, .size = 1}, Seconds(1)), Seconds(1)};
}

void Team::sum(std::span<double> values, Seconds timeout) { communicator_.all_reduce(values, timeout); }

void Team::average(std::span<float> values, double weight) {
  if (is_alone() || values.empty()) return;
  std::ranges::copy(averaged(values, weight), values.begin());
}

std::vector<float> Team::averaged(std::span<const float> values, double weight) {
  std::vector<float> sums(values.begin(), values.end());
  if (is_alone() || values.empty()) return sums;
  std::array<double, 1> total{weight};
  sum(total);
  const auto factor = static_cast<float>(total[0] > 0 ? weight / total[0] : 1.0 / size());
  for (float& value : sums) value *= factor;
  communicator_.all_reduce(sums, {}, timeout_);
  return sums;
}

std::vector<double> Team::gather(std::span<const double> values) {
  std::vector<double> all(values.size() * static_cast<std::size_t>(size()));
  communicator_.all_gather(values, all, timeout_);
  return all;
}

}  // namespace trireme::train
