// SPDX-License-Identifier: Apache-2.0
// Pauses and patience with stragglers.
#include "trireme/train/job/straggler_policy.h"

#include <algorithm>
#include <utility>

namespace trireme::train {

bool StragglerPolicy::slow(const std::string& node) {
  good_ = 0;
  if (rule_ != Rule::drop) return !std::exchange(is_there_, true) && rule_ == Rule::async;
  if (is_out(node)) return false;
  Paused& entry = paused_[node];
  entry.pause = entry.pause > Seconds(0) ? std::min(2 * entry.pause, kMaxPause) : kFirstPause;
  entry.until = clock_.now() + entry.pause;
  entry.good = 0;
  return true;
}

bool StragglerPolicy::nobody(const std::vector<std::string>& members) {
  for (const std::string& node : members) {
    const auto found = paused_.find(node);
    if (found != paused_.end() && !is_out(node) && ++found->second.good >= kGone) paused_.erase(found);
  }
  if (!is_there_ || ++good_ < kGone) return false;
  is_there_ = false;
  return true;
}

bool StragglerPolicy::is_out(const std::string& node) const {
  const auto found = paused_.find(node);
  return found != paused_.end() && clock_.now() < found->second.until;
}

Seconds StragglerPolicy::pause(const std::string& node) const {
  const auto found = paused_.find(node);
  return found == paused_.end() ? Seconds(0) : found->second.pause;
}

StragglerPolicy::Rule straggler_rule(std::string_view name) {
  if (name == "drop") return StragglerPolicy::Rule::drop;
  return name == "async" ? StragglerPolicy::Rule::async : StragglerPolicy::Rule::shares;
}

}  // namespace trireme::train
