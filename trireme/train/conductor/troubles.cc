// SPDX-License-Identifier: Apache-2.0
// Blames and complaints.
#include "trireme/train/conductor/troubles.h"

#include <algorithm>
#include <utility>

namespace trireme::train {
namespace {

constexpr Seconds kSettle{0.3};  // others that died at the same time, and how
constexpr Seconds kSlack{1};

}  // namespace

void Troubles::act_within(Seconds time) {
  const Seconds end = clock_.now() + time;
  due_ = due_ ? std::min(*due_, end) : end;
}

void Troubles::blame(const std::string& node, Blame found) {
  act_within(kSettle);
  const auto [entry, is_new] = blames_.try_emplace(node, found);
  if (!is_new && found.certainty < entry->second.certainty) {
    const coord::Progress last_known = entry->second.progress;
    entry->second = std::move(found);
    if (entry->second.progress.step < 0) entry->second.progress = last_known;
  }
}

void Troubles::complain(Complaint complaint) {
  if (!complaint_) complaint_ = std::move(complaint);
  act_within(silence_ + kSlack);
}

void Troubles::clear() {
  blames_.clear();
  complaint_.reset();
  due_.reset();
}

}  // namespace trireme::train
