// SPDX-License-Identifier: Apache-2.0
// Fills a sample set on all cores.
#include "trireme/data/sample_set.h"

#include "trireme/base/parallel.h"
#include "trireme/data/synthetic_digits.h"

namespace trireme::data {

SampleSet synthetic_digits(std::uint64_t seed, std::int64_t count) {
  constexpr std::int64_t kPixels = SyntheticDigits::kPixels;
  SampleSet set{.shape = {1, SyntheticDigits::kExtent, SyntheticDigits::kExtent}, .classes = SyntheticDigits::kClasses};
  set.values.resize(static_cast<std::size_t>(count * kPixels));
  set.labels.resize(static_cast<std::size_t>(count));
  const SyntheticDigits digits(seed);
  parallel_ranges(count, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      digits.make_image(i, std::span(set.values).subspan(static_cast<std::size_t>(i * kPixels), static_cast<std::size_t>(kPixels)));
      set.labels[static_cast<std::size_t>(i)] = digits.label(i);
    }
  });
  return set;
}

}  // namespace trireme::data
