// SPDX-License-Identifier: Apache-2.0
// Counts by the largest remainder, samples in the order of one permutation.
#include "trireme/data/sets/stratified_split.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "trireme/data/source/permutation.h"

namespace trireme::data {
namespace {

using Counts = std::vector<std::int64_t>;

// How many of each class make `held_out` of all samples; `free` of each may be taken.
Counts quotas(const Counts& by_class, const Counts& free, std::int64_t held_out) {
  const std::int64_t samples = std::accumulate(by_class.begin(), by_class.end(), std::int64_t{0});
  Counts counts(by_class.size());
  std::vector<std::size_t> order(by_class.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto exact = [&](std::size_t c) {
    return static_cast<double>(held_out) * static_cast<double>(by_class[c]) / static_cast<double>(samples);
  };
  for (const std::size_t c : order) counts[c] = std::min(static_cast<std::int64_t>(exact(c)), free[c]);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return exact(a) - static_cast<double>(counts[a]) > exact(b) - static_cast<double>(counts[b]);
  });
  std::int64_t rest = held_out - std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (bool gave = true; rest > 0 && gave;) {
    gave = false;
    for (const std::size_t c : order) {
      if (rest == 0 || counts[c] == free[c]) continue;
      ++counts[c];
      --rest;
      gave = true;
    }
  }
  return counts;
}

Counts left_of(const Counts& all, const Counts& taken) {
  Counts left = all;
  for (std::size_t c = 0; c < all.size(); ++c) left[c] -= taken[c];
  return left;
}

}  // namespace

Split stratified_split(std::span<const std::int32_t> labels, const SplitSizes& sizes, std::uint64_t seed) {
  constexpr std::int64_t kNoEpoch = -1;  // the stream of split_samples
  Counts by_class;
  for (const std::int32_t label : labels) {
    if (static_cast<std::size_t>(label) >= by_class.size()) by_class.resize(static_cast<std::size_t>(label) + 1);
    ++by_class[static_cast<std::size_t>(label)];
  }
  Counts free = by_class;
  for (std::int64_t& count : free) count = std::max<std::int64_t>(count - 1, 0);
  Counts validation = quotas(by_class, free, sizes.validation);
  Counts test = quotas(by_class, left_of(free, validation), sizes.test);

  Split split;
  for (const std::int64_t index : epoch_permutation(static_cast<std::int64_t>(labels.size()), seed, kNoEpoch)) {
    const auto c = static_cast<std::size_t>(labels[static_cast<std::size_t>(index)]);
    auto& part = validation[c] > 0 ? split.validation : test[c] > 0 ? split.test : split.train;
    if (validation[c] > 0)
      --validation[c];
    else if (test[c] > 0)
      --test[c];
    part.push_back(index);
  }
  for (auto* part : {&split.train, &split.validation, &split.test}) std::ranges::sort(*part);
  return split;
}

}  // namespace trireme::data
