// SPDX-License-Identifier: Apache-2.0
// Depths of networks that are built of equal blocks.
#pragma once

#include <cstdint>
#include <string_view>

namespace trireme::graph {

// n of depth = per_block * n + rest; throws invalid_argument with the nearest depths if there is no such n >= 1.
std::int64_t blocks_of_depth(std::string_view model, std::int64_t depth, std::int64_t per_block, std::int64_t rest);

}  // namespace trireme::graph
