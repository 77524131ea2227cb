// SPDX-License-Identifier: Apache-2.0
// A worker's link is as fast as its fastest connection, in the slower direction.
#include "trireme/train/team/link_speeds.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trireme::train {
namespace {

constexpr double kSlow = 3;       // times below the median
constexpr double kMatters = 0.2;  // of a step's time, waited
constexpr double kFast = 3e8;     // bytes a second; what is slower than the median and above this is a busy machine, not its link
constexpr int kMinMembers = 3;

}  // namespace

void LinkSpeeds::count(double seconds, double waited) {
  seconds_ += seconds;
  waited_ += waited;
}

std::optional<SlowLinkRecord> LinkSpeeds::measure(Team& team) {
  if (team.size() < kMinMembers) return std::nullopt;
  const double share = std::exchange(waited_, 0.0) / std::max(std::exchange(seconds_, 0.0), 1e-9);
  std::optional<SlowLinkRecord> slow = find_slow_link(team.gather(team.communicator().send_rates()), team.size());
  if (slow && share < kMatters) slow.reset();
  const int before = std::exchange(suspect_, slow ? slow->rank : -1);
  if (!slow || before != suspect_) return std::nullopt;  // once may be a moment's traffic of others
  slow->wait_share = share;
  return slow;
}

std::optional<SlowLinkRecord> find_slow_link(std::span<const double> rates, int members) {
  if (members < kMinMembers) return std::nullopt;
  const auto count = static_cast<std::size_t>(members);
  std::vector<double> speeds(count);
  for (std::size_t i = 0; i < count; ++i) {
    double out = 0, in = 0;
    for (std::size_t other = 0; other < count; ++other) {
      if (other == i) continue;
      out = std::max(out, rates[i * count + other]);
      in = std::max(in, rates[other * count + i]);
    }
    speeds[i] = std::min(out, in);
  }
  std::vector<double> sorted = speeds;
  std::ranges::sort(sorted);
  const double median = sorted[count / 2];
  const auto slowest = std::ranges::min_element(speeds);
  if (*slowest <= 0 || *slowest > kFast || *slowest * kSlow > median) return std::nullopt;
  return SlowLinkRecord{.rank = static_cast<int>(slowest - speeds.begin()), .bytes_per_second = *slowest, .typical = median};
}

}  // namespace trireme::train
