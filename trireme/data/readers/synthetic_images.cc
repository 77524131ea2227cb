// SPDX-License-Identifier: Apache-2.0
// synthetic_images: coloured things on coloured grounds, made from nothing.
#include "trireme/data/synthetic/synthetic_images.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trireme/data/synthetic/synthetic_options.h"

namespace trireme::data::readers {
namespace {

struct SyntheticImagesOptions {
  SyntheticImageForm form;
  SyntheticOptions common;
};

void describe(SyntheticImagesOptions& o, OptionVisitor& visit) {
  visit("extent", o.form.extent, "height and width", 8, 512);
  visit("classes", o.form.classes, "combinations of shape, texture and hue", 2, 100);
  visit("noise", o.form.noise, "deviation of each value, where 1 is white", 0, 1);
  describe(o.common, visit);
}

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const SyntheticImagesOptions&>(request.options);
  const SyntheticImages images(part_seed(options.common, request.part), options.form);
  const SampleFormat format{.shape = {3, options.form.extent, options.form.extent}, .classes = options.form.classes};
  return make_source(format, sample_count(options.common, request.part), [&](std::int64_t index, std::span<std::byte> sample) {
    std::vector<float> image(sample.size());
    images.make_image(index, image);
    std::ranges::transform(image, sample.begin(), [](float v) { return static_cast<std::byte>(std::lround(v * 255)); });
    return images.label(index);
  });
}

ReaderRequest example(const std::filesystem::path&) {
  return {.options = SyntheticImagesOptions{.form = {.extent = 12}, .common = {.samples = 20, .test_samples = 10}}};
}

}  // namespace

ReaderEntry synthetic_images() {
  return {.name = "synthetic_images",
          .summary = "coloured shapes with textures on coloured grounds, 3 x extent x extent, made from nothing",
          .options = options_type<SyntheticImagesOptions>(),
          .reads_files = false,
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
