// SPDX-License-Identifier: Apache-2.0
// Runs that never touch each other.
#include "trireme/ps/runs.h"

#include <algorithm>
#include <iterator>

#include "trireme/base/error.h"

namespace trireme::ps {

void Runs::add(data::Range run) {
  if (run.size() == 0) return;
  size_ += run.size();
  auto after = ends_.lower_bound(run.begin);
  ensure(after == ends_.end() || after->first >= run.end, "samples that are added are not in the set");
  if (after != ends_.begin()) {
    const auto before = std::prev(after);
    ensure(before->second <= run.begin, "samples that are added are not in the set");
    if (before->second == run.begin) {
      run.begin = before->first;
      ends_.erase(before);
    }
  }
  if (after != ends_.end() && after->first == run.end) {
    run.end = after->second;
    ends_.erase(after);
  }
  ends_[run.begin] = run.end;
}

data::Range Runs::take_first(std::int64_t most) {
  ensure(!is_empty() && most > 0, "there is something to take");
  const auto [begin, end] = *ends_.begin();
  const data::Range taken{begin, std::min(end, begin + most)};
  ends_.erase(ends_.begin());
  if (taken.end < end) ends_[taken.end] = end;
  size_ -= taken.size();
  return taken;
}

std::vector<data::Range> Runs::all() const {
  std::vector<data::Range> runs;
  for (const auto& [begin, end] : ends_) runs.push_back({begin, end});
  return runs;
}

std::vector<data::Range> Runs::gaps(data::Range within) const {
  std::vector<data::Range> found;
  std::int64_t at = within.begin;
  for (const auto& [begin, end] : ends_) {
    if (at >= within.end || begin >= within.end) break;
    if (begin > at) found.push_back({at, begin});
    at = std::max(at, end);
  }
  if (at < within.end) found.push_back({at, within.end});
  return found;
}

}  // namespace trireme::ps
