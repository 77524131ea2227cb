// SPDX-License-Identifier: Apache-2.0
// Failures and reports about peers.
#include "trireme/train/conductor/failure_log.h"

#include <algorithm>
#include <utility>

namespace trireme::train {
namespace {

constexpr Seconds kSettle{0.3};  // for others that died at the same time, and for better evidence
constexpr Seconds kSlack{1};

}  // namespace

void FailureLog::act_within(Seconds time) {
  const Seconds end = clock_.now() + time;
  due_ = due_ ? std::min(*due_, end) : end;
}

void FailureLog::add(const std::string& node, Failure failure) {
  act_within(kSettle);
  const auto [entry, is_new] = failures_.try_emplace(node, failure);
  if (!is_new && failure.evidence < entry->second.evidence) {
    const coord::Progress last_known = entry->second.progress;
    entry->second = std::move(failure);
    if (entry->second.progress.step < 0) entry->second.progress = last_known;
  }
}

void FailureLog::add(PeerReport report) {
  if (!peer_report_) peer_report_ = std::move(report);
  act_within(silence_ + kSlack);
}

void FailureLog::clear() {
  failures_.clear();
  peer_report_.reset();
  due_.reset();
}

}  // namespace trireme::train
