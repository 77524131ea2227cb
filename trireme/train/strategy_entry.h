// SPDX-License-Identifier: Apache-2.0
// How gradients of many workers become the next parameters: each file of strategies/ is one.
#pragma once

#include <string_view>
#include <vector>

namespace trireme::train {

struct StrategyEntry {
  std::string_view name;
  std::string_view summary;
};

namespace strategies {
const std::vector<StrategyEntry>& catalog();
}

}  // namespace trireme::train
