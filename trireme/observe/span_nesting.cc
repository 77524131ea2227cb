// SPDX-License-Identifier: Apache-2.0
// Each span against those of its row that are still open.
#include "trireme/observe/span_nesting.h"

#include <algorithm>
#include <cstddef>

#include "trireme/base/error.h"

namespace trireme::observe {
namespace {

class Row {
 public:
  // Whether it fits after all that were placed before, which began no later.
  bool place(Extent& next) {
    close_before(next);
    if (!open_.empty() && next.end > open_.back()->end) {
      if (next.end - open_.back()->end > kRounding) return false;
      next.end = open_.back()->end;
    }
    open_.push_back(&next);
    return true;
  }

 private:
  void close_before(const Extent& next) {
    while (!open_.empty()) {
      Extent& last = *open_.back();
      const auto overlap = last.end - next.begin, beyond = next.end - last.end;
      const bool is_rounded = overlap <= kRounding && beyond > std::chrono::nanoseconds(0) && overlap <= beyond;
      if (overlap > std::chrono::nanoseconds(0) && !is_rounded) return;
      last.end = std::min(last.end, next.begin);
      open_.pop_back();
    }
  }

  std::vector<Extent*> open_;  // each inside of the one before
};

}  // namespace

std::vector<int> nest(std::span<Extent> extents) {
  ensure(std::ranges::is_sorted(extents, comes_first), "spans are not in their order");
  std::vector<Row> rows;
  std::vector<int> row_of;
  row_of.reserve(extents.size());
  for (Extent& next : extents) {
    std::size_t row = 0;
    while (row < rows.size() && !rows[row].place(next)) ++row;
    if (row == rows.size()) rows.emplace_back().place(next);
    row_of.push_back(static_cast<int>(row));
  }
  return row_of;
}

}  // namespace trireme::observe
