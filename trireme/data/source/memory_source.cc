// SPDX-License-Identifier: Apache-2.0
// Copies out of one large buffer.
#include "trireme/data/source/memory_source.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::data {

MemorySource::MemorySource(MemorySamples samples)
    : samples_(std::move(samples)), size_(static_cast<std::int64_t>(samples_.values.size() / samples_.format.sample_bytes())) {
  const auto count = static_cast<std::size_t>(size_);
  ensure(samples_.values.size() == count * samples_.format.sample_bytes(), "samples in memory are whole");
  ensure(samples_.format.classes == 0 || samples_.labels.size() == count, "a label a sample");
  ensure(samples_.targets.size() == count * static_cast<std::size_t>(samples_.format.targets), "targets a sample");
}

std::int32_t MemorySource::label(std::int64_t index) const {
  return samples_.labels.empty() ? 0 : samples_.labels[static_cast<std::size_t>(index)];
}

std::span<const float> MemorySource::target(std::int64_t index) const {
  const auto extent = static_cast<std::size_t>(samples_.format.targets);
  return std::span(samples_.targets).subspan(static_cast<std::size_t>(index) * extent, extent);
}

void MemorySource::read(std::int64_t index, std::span<std::byte> sample) const {
  const std::size_t extent = samples_.format.sample_bytes();
  ensure(sample.size() == extent && index >= 0 && index < size_, "a read inside the set");
  std::ranges::copy(std::span(samples_.values).subspan(static_cast<std::size_t>(index) * extent, extent), sample.begin());
}

}  // namespace trireme::data
