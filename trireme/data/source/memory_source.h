// SPDX-License-Identifier: Apache-2.0
// Samples that are all in memory, one after another.
#pragma once

#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

struct MemorySamples {
  SampleFormat format;
  std::vector<std::byte> values;  // samples x format.sample_bytes()
  std::vector<std::int32_t> labels;
  std::vector<float> targets;  // samples x format.targets
  std::vector<std::int64_t> file_starts{0};
  std::vector<std::string> warnings{};
  std::vector<std::string> skipped{};
};

class MemorySource final : public Source {
 public:
  // The parts of `samples` must fit each other.
  explicit MemorySource(MemorySamples samples);

  const SampleFormat& format() const override { return samples_.format; }
  std::int64_t size() const override { return size_; }
  std::int32_t label(std::int64_t index) const override;
  std::span<const float> target(std::int64_t index) const override;
  void read(std::int64_t index, std::span<std::byte> sample) const override;
  std::vector<std::int64_t> file_starts() const override { return samples_.file_starts; }
  bool in_memory() const override { return true; }
  std::vector<std::string> warnings() const override { return samples_.warnings; }
  std::vector<std::string> skipped() const override { return samples_.skipped; }

 private:
  MemorySamples samples_;
  std::int64_t size_;
};

}  // namespace trireme::data
