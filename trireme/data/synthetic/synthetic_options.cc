// SPDX-License-Identifier: Apache-2.0
// Synthetic sets, made on all cores.
#include "trireme/data/synthetic/synthetic_options.h"

#include "trireme/base/parallel.h"
#include "trireme/base/random.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data {

void describe(SyntheticOptions& o, OptionVisitor& visit) {
  visit("samples", o.samples, "for training", 1, 1 << 30);
  visit("test_samples", o.test_samples, "for the test; 0 means none", 0, 1 << 30);
  visit("seed", o.seed, "of the synthetic samples", 0);
}

std::int64_t sample_count(const SyntheticOptions& o, Part part) { return part == Part::train ? o.samples : o.test_samples; }

std::uint64_t part_seed(const SyntheticOptions& o, Part part) {
  const auto seed = static_cast<std::uint64_t>(o.seed);
  return part == Part::train ? seed : combine(seed, hash_text("test"));
}

std::unique_ptr<Source> make_source(const SampleFormat& format, std::int64_t samples, const MakeSample& make) {
  MemorySamples out{.format = format};
  const std::size_t extent = format.sample_bytes();
  out.values.resize(static_cast<std::size_t>(samples) * extent);
  out.labels.resize(static_cast<std::size_t>(samples));
  parallel_ranges(samples, 64, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      out.labels[i] = make(static_cast<std::int64_t>(i), std::span(out.values).subspan(i * extent, extent));
  });
  return std::make_unique<MemorySource>(std::move(out));
}

}  // namespace trireme::data
