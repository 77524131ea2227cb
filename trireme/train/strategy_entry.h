// SPDX-License-Identifier: Apache-2.0
// How gradients of many workers become the next parameters: each file of strategies/ is one.
#pragma once

#include <any>
#include <memory>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/options.h"
#include "trireme/train/strategy.h"

namespace trireme::train {

// exact: the gradients are those of one machine. eventual: workers drift apart for a while.
enum class Consistency { exact, eventual };
std::string_view name_of(Consistency consistency);

struct StrategyEntry {
  std::string_view name;
  std::string_view summary;
  Consistency consistency = Consistency::exact;
  OptionsType options;
  // All must outlive the strategy.
  struct Setup {
    Team& team;
    const ParameterSpace& space;
    const Clock& clock;
    bool sync_batch_norm = false;  // steps may come with an exchange of statistics
  };
  std::unique_ptr<Strategy> (*make)(const Setup& setup, const std::any& options) = nullptr;
};

namespace strategies {
const std::vector<StrategyEntry>& catalog();
}

const StrategyEntry& find_strategy(std::string_view name);

}  // namespace trireme::train
