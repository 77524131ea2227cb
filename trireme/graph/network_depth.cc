// SPDX-License-Identifier: Apache-2.0
// Depths of networks that are built of equal blocks.
#include "trireme/graph/network_depth.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::graph {

std::int64_t blocks_of_depth(std::string_view model, std::int64_t depth, std::int64_t per_block, std::int64_t rest) {
  const std::int64_t blocks = std::max<std::int64_t>(1, (depth - rest) / per_block);
  const std::int64_t below = per_block * blocks + rest;
  if (depth == below) return blocks;
  throw Error{
      invalid_argument, "model '{}': depth = {} is not {}n + {}; the nearest that are: {} and {}", model, depth, per_block, rest, below,
      below + per_block};
}

}  // namespace trireme::graph
