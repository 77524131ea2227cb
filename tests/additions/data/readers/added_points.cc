// SPDX-License-Identifier: Apache-2.0
// added_points: points in two classes, a data set that is added from outside.
#include "trireme/data/synthetic/synthetic_options.h"

namespace trireme::data::readers {
namespace {

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const SyntheticOptions&>(request.options);
  return make_source({.shape = {4}, .classes = 2}, sample_count(options, request.part),
                     [](std::int64_t index, std::span<std::byte> sample) {
                       for (std::size_t i = 0; i < sample.size(); ++i)
                         sample[i] = static_cast<std::byte>((index * 37 + static_cast<std::int64_t>(i) * 11) % 256);
                       return static_cast<std::int32_t>(sample[0] > std::byte{127} ? 1 : 0);
                     });
}

ReaderRequest example(const std::filesystem::path&) { return {.options = SyntheticOptions{.samples = 20, .test_samples = 10}}; }

}  // namespace

ReaderEntry added_points() {
  return {.name = "added_points",
          .summary = "points of four values in two classes",
          .options = options_type<SyntheticOptions>(),
          .reads_files = false,
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
