// SPDX-License-Identifier: Apache-2.0
// Spans with their texts as numbers.
#include "trireme/observe/spans.h"

#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/random.h"

namespace trireme::observe {

std::uint64_t flow_of(std::string_view kind, std::uint64_t generation, std::uint64_t from, std::uint64_t to, std::uint64_t sequence) {
  const std::uint64_t flow = combine(combine(combine(combine(hash_text(kind), generation), from), to), sequence);
  return flow == 0 ? 1 : flow;
}

std::uint32_t Spans::number_of(std::string_view text) {
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(text);
  numbers_.emplace(text, number);
  return number;
}

void Spans::add(const Span& span) {
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= most_ || (span.is_op && ops_ >= most_ / 4 * 3)) {
    ++dropped_;
    return;
  }
  if (span.is_op) ++ops_;
  kept_.push_back({.name = number_of(span.name),
                   .category = number_of(span.category),
                   .track = number_of(span.track),
                   .begin = span.begin,
                   .end = span.end,
                   .sends = span.sends,
                   .receives = span.receives,
                   .step = span.step,
                   .bytes = span.bytes});
}

Spans::Taken Spans::take() {
  Taken taken;
  std::vector<Kept> kept;
  {
    const std::lock_guard lock(mutex_);
    kept = std::exchange(kept_, {});
    taken.names = std::exchange(names_, {});
    taken.dropped = std::exchange(dropped_, 0);
    numbers_.clear();
    ops_ = 0;
  }
  taken.spans.reserve(kept.size());
  for (const Kept& one : kept)
    taken.spans.push_back({.name = taken.names[one.name],
                           .category = taken.names[one.category],
                           .track = taken.names[one.track],
                           .begin = one.begin,
                           .end = one.end,
                           .sends = one.sends,
                           .receives = one.receives,
                           .step = one.step,
                           .bytes = one.bytes});
  return taken;
}

bool Spans::is_empty() const {
  const std::lock_guard lock(mutex_);
  return kept_.empty() && dropped_ == 0;
}

SpanScope::SpanScope(Spans* spans, std::string_view name, std::string_view category, std::string_view track)
    : spans_(spans != nullptr && spans->is_on() ? spans : nullptr), span_{.name = name, .category = category, .track = track} {
  if (spans_ != nullptr) span_.begin = SteadyClock().now().count();
}

SpanScope::~SpanScope() {
  if (spans_ == nullptr || !spans_->is_on()) return;
  span_.end = SteadyClock().now().count();
  spans_->add(span_);
}

}  // namespace trireme::observe
