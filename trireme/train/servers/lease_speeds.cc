// SPDX-License-Identifier: Apache-2.0
// Looks at the speeds each time the slowest worker has done some steps.
#include "trireme/train/servers/lease_speeds.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trireme/train/team/speed_shares.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kSteps = 10;  // of the slowest between two looks

}  // namespace

std::optional<StragglerRecord> LeaseSpeeds::count(int worker, std::int64_t samples, double seconds) {
  Worker& own = workers_[worker];
  ++own.steps;
  own.samples += static_cast<double>(samples);
  own.seconds += seconds;
  return is_due() ? look() : std::nullopt;
}

bool LeaseSpeeds::is_due() const {
  return workers_.size() > 1 && workers_.size() >= expected_ &&
         std::ranges::all_of(workers_, [](const auto& worker) { return worker.second.steps >= kSteps; });
}

std::optional<StragglerRecord> LeaseSpeeds::look() {
  std::vector<double> speeds;
  std::vector<int> ranks;
  double all = 0;
  for (const auto& [rank, worker] : workers_) {
    ranks.push_back(rank);
    speeds.push_back(worker.samples / std::max(worker.seconds, 1e-9));
    all += worker.samples;
  }
  std::optional<StragglerRecord> found = find_straggler(speeds);
  if (found) {
    found->rank = ranks[static_cast<std::size_t>(found->rank)];
    found->share = workers_[found->rank].samples / all;
  }
  workers_.clear();
  const int before = std::exchange(straggler_, found ? found->rank : -1);
  if (straggler_ < 0) return StragglerRecord{.rank = -1};
  if (before != straggler_) found.reset();  // once may be a moment's load of that machine
  return found;
}

}  // namespace trireme::train
