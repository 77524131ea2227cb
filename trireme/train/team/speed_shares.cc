// SPDX-License-Identifier: Apache-2.0
// Speeds measured over some steps become shares.
#include "trireme/train/team/speed_shares.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace trireme::train {
namespace {

constexpr std::int64_t kWarmUp = 3;  // the first steps touch fresh memory
constexpr std::int64_t kFirst = 12;  // steps until the first measurement
constexpr std::int64_t kEvery = 50;
constexpr double kStraggles = 2;   // times the median's time for a sample
constexpr double kWorthIt = 0.04;  // of the batch: a smaller change is noise

}  // namespace

void SpeedShares::count(std::int64_t samples, double seconds) {
  if (++steps_ <= kWarmUp) return;
  samples_ += static_cast<double>(samples);
  seconds_ += seconds;
}

bool SpeedShares::is_due() const { return steps_ == kFirst || (steps_ > kFirst && steps_ % kEvery == 0); }

SpeedShares::Measured SpeedShares::measure(Team& team, const std::vector<double>& now) {
  const std::vector<double> speeds = team.gather(samples_ > 0 ? samples_ / std::max(seconds_, 1e-9) : kUnknownSpeed);
  samples_ = seconds_ = 0;
  Measured out{.straggler = find_straggler(speeds)};
  const int before = std::exchange(straggler_, out.straggler ? out.straggler->rank : -1);
  // Once may be a moment's load of that machine.
  if (out.straggler && before != straggler_) out.straggler.reset();
  if (rule_ == Rule::automatic && out.straggler) rule_ = Rule::speed;
  if (straggler_ < 0) out.straggler = StragglerRecord{.rank = -1};
  if (rule_ != Rule::speed) return out;
  std::vector<double> shares = shares_by_speed(batch_size_, speeds);
  const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
  const double whole_now = std::accumulate(now.begin(), now.end(), 0.0);
  double change = 0;
  for (std::size_t i = 0; i < now.size(); ++i) change = std::max(change, std::abs(shares[i] / whole - now[i] / whole_now));
  if (change >= kWorthIt) out.shares = std::move(shares);
  return out;
}

SpeedShares::Rule shares_rule(std::string_view name, std::string_view straggler) {
  if (name == "equal" || (name == "automatic" && straggler != "shares")) return SpeedShares::Rule::equal;
  return name == "speed" ? SpeedShares::Rule::speed : SpeedShares::Rule::automatic;
}

std::optional<StragglerRecord> find_straggler(const std::vector<double>& speeds) {
  std::vector<double> sorted = speeds;
  std::erase(sorted, kUnknownSpeed);
  if (sorted.size() < 2) return std::nullopt;
  std::ranges::sort(sorted, std::greater<>());
  const double median = sorted[(sorted.size() - 1) / 2];  // of two the faster
  const double slowest = sorted.back();
  if (slowest * kStraggles > median) return std::nullopt;
  return StragglerRecord{.rank = static_cast<int>(std::ranges::find(speeds, slowest) - speeds.begin()), .slowness = median / slowest};
}

std::vector<double> shares_by_speed(std::int64_t batch_size, const std::vector<double>& speeds) {
  const double unit = std::max(1.0, std::floor(static_cast<double>(batch_size) / 64));
  const auto unknown = static_cast<double>(std::ranges::count(speeds, kUnknownSpeed));
  const double known = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const double mean = known / std::max(1.0, static_cast<double>(speeds.size()) - unknown);
  const double whole = known + unknown * mean;
  std::vector<double> shares;
  for (const double measured : speeds) {
    const double speed = measured == kUnknownSpeed ? mean : measured;
    const double wanted = whole > 0 ? static_cast<double>(batch_size) * speed / whole : 0;
    shares.push_back(std::max(unit, std::round(wanted / unit) * unit));
  }
  return shares;
}

}  // namespace trireme::train
