// SPDX-License-Identifier: Apache-2.0
// Makes the spans of one track fit to be drawn: each inside of another, or beside it.
#pragma once

#include <chrono>
#include <span>
#include <vector>

namespace trireme::observe {

struct Extent {
  std::chrono::nanoseconds begin{0};
  std::chrono::nanoseconds end{0};  // not before `begin`
};

// The order in which spans are to be written: of those that begin together the longest is first.
inline bool comes_first(const Extent& a, const Extent& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; }

// A reader of traces drops a span that overlaps another without being inside of it, be it by a nanosecond. Overlaps as small as
// kRounding come from times that were rounded: the end that is nearer to the other span's edge is moved there. Spans that really
// overlap get rows of their own. Takes them in their order; returns the row of each, 0 for those that stay.
inline constexpr std::chrono::nanoseconds kRounding = std::chrono::microseconds(1);
std::vector<int> nest(std::span<Extent> extents);

}  // namespace trireme::observe
