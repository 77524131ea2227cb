// SPDX-License-Identifier: Apache-2.0
// synthetic_digits: handwritten-looking digits, 28 x 28, made from nothing.
#include "trireme/data/synthetic/synthetic_digits.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/data/synthetic/synthetic_options.h"

namespace trireme::data::readers {
namespace {

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const SyntheticOptions&>(request.options);
  const SyntheticDigits digits(part_seed(options, request.part));
  const SampleFormat format{.shape = {1, SyntheticDigits::kExtent, SyntheticDigits::kExtent}, .classes = SyntheticDigits::kClasses};
  return make_source(format, sample_count(options, request.part), [&](std::int64_t index, std::span<std::byte> sample) {
    std::array<float, SyntheticDigits::kPixels> image{};
    digits.make_image(index, image);
    std::ranges::transform(image, sample.begin(), [](float v) { return static_cast<std::byte>(std::lround(v * 255)); });
    return digits.label(index);
  });
}

ReaderRequest example(const std::filesystem::path&) { return {.options = SyntheticOptions{.samples = 20, .test_samples = 10}}; }

}  // namespace

ReaderEntry synthetic_digits() {
  return {.name = "synthetic_digits",
          .summary = "handwritten-looking digits, 1x28x28, 10 classes, made from nothing",
          .options = options_type<SyntheticOptions>(),
          .reads_files = false,
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
