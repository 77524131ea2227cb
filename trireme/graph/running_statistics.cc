// SPDX-License-Identifier: Apache-2.0
// A cumulative mean that turns into a moving one.
#include "trireme/graph/running_statistics.h"

#include <algorithm>
#include <cmath>

namespace trireme::graph {

StatisticsUpdate next_update(double momentum, float updates) {
  const double before = std::round(std::max(0.0, static_cast<double>(updates)));
  // Less a little: 1 / (1 - 0.9) is above 10. Of momentum 1 it is infinity.
  const double most = std::min(static_cast<double>(kManyUpdates), std::ceil(1 / (1 - momentum) - 1e-9));
  return {.kept = std::min(momentum, before / (before + 1)), .updates = static_cast<float>(std::min(before + 1, most))};
}

}  // namespace trireme::graph
