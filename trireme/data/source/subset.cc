// SPDX-License-Identifier: Apache-2.0
// Maps file boundaries of a source onto a subset of its samples.
#include "trireme/data/source/subset.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::data {

Subset::Subset(std::shared_ptr<const Source> base, std::vector<std::int64_t> indices)
    : base_(std::move(base)), indices_(std::move(indices)) {
  const std::int64_t limit = base_->size();
  ensure(std::ranges::all_of(indices_, [limit](std::int64_t index) { return index >= 0 && index < limit; }),
         "a subset lies inside its base");
}

std::vector<std::int64_t> Subset::file_starts() const {
  std::vector<std::int64_t> starts{0};
  if (!std::ranges::is_sorted(indices_)) return starts;
  for (const std::int64_t base_start : base_->file_starts()) {
    const std::int64_t start = std::ranges::lower_bound(indices_, base_start) - indices_.begin();
    if (start > starts.back() && start < size()) starts.push_back(start);
  }
  return starts;
}

}  // namespace trireme::data
