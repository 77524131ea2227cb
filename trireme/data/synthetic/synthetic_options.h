// SPDX-License-Identifier: Apache-2.0
// What all synthetic sets can be configured with, and how they are made on all cores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "trireme/base/options.h"
#include "trireme/data/formats/reader_entry.h"

namespace trireme::data {

struct SyntheticOptions {
  std::int64_t samples = 10000;
  std::int64_t test_samples = 2000;
  std::int64_t seed = 1;
};
void describe(SyntheticOptions& o, OptionVisitor& visit);

// Of the part that is asked for; the two parts have streams of their own.
std::int64_t sample_count(const SyntheticOptions& o, Part part);
std::uint64_t part_seed(const SyntheticOptions& o, Part part);

// Writes sample `index` and returns its label.
using MakeSample = std::function<std::int32_t(std::int64_t index, std::span<std::byte> sample)>;

std::unique_ptr<Source> make_source(const SampleFormat& format, std::int64_t samples, const MakeSample& make);

}  // namespace trireme::data
