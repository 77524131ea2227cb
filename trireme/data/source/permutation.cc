// SPDX-License-Identifier: Apache-2.0
// Fisher and Yates' shuffle.
#include "trireme/data/source/permutation.h"

#include <numeric>
#include <utility>

#include "trireme/base/random.h"

namespace trireme::data {

std::vector<std::int64_t> epoch_permutation(std::int64_t samples, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  // A stream of its own: combine(seed, epoch) alone is the root of the samples' keys.
  RandomStream random(combine(combine(seed, static_cast<std::uint64_t>(epoch)), hash_text("permutation")));
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace trireme::data
