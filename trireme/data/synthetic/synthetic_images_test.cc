// SPDX-License-Identifier: Apache-2.0
// Synthetic images are reproducible, varied, in range, and not to be distinguished by their mean colours.
#include "trireme/data/synthetic/synthetic_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "trireme/data/testing/nearest_centroid.h"

namespace trireme::data {
namespace {

std::vector<float> image_of(const SyntheticImages& images, std::int64_t index, std::int64_t extent = 32) {
  std::vector<float> image(static_cast<std::size_t>(3 * extent * extent));
  images.make_image(index, image);
  return image;
}

TEST(SyntheticImages, ASampleIsAPureFunctionOfSeedAndIndex) {
  const SyntheticImages images(5, {});
  const std::vector<float> image = image_of(images, 17);
  EXPECT_EQ(image_of(SyntheticImages(5, {}), 17), image);
  EXPECT_NE(image_of(images, 18), image);
  EXPECT_NE(image_of(SyntheticImages(6, {}), 17), image);
}

TEST(SyntheticImages, ValuesAreColours) {
  const SyntheticImages images(1, {.extent = 16, .noise = 0.3});
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::vector<float> image = image_of(images, i, 16);
    EXPECT_GE(*std::min_element(image.begin(), image.end()), 0.0F);
    EXPECT_LE(*std::max_element(image.begin(), image.end()), 1.0F);
  }
}

TEST(SyntheticImages, LabelsAreSpreadEvenly) {
  const SyntheticImages images(2, {.classes = 7});
  std::vector<int> counts(7);
  for (std::int64_t i = 0; i < 7000; ++i) ++counts.at(static_cast<std::size_t>(images.label(i)));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(SyntheticImages, NoiseIsAnOption) {
  const std::vector<float> clean = image_of(SyntheticImages(3, {.noise = 0}), 1), noisy = image_of(SyntheticImages(3, {.noise = 0.1}), 1);
  double difference = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) difference += (clean[i] - noisy[i]) * (clean[i] - noisy[i]);
  EXPECT_NEAR(difference / static_cast<double>(clean.size()), 0.01, 0.004);
}

// Chance is 10 %. The mean image of a class helps a little; what is left is for a network that sees shapes and textures.
TEST(SyntheticImages, MeanImagesAreNotEnough) {
  const SyntheticImages images(3, {.extent = 16});
  const double accuracy = nearest_centroid_accuracy(
      [&](std::int64_t i) {
        return LabelledSample{image_of(images, i, 16), images.label(i)};
      },
      10, 1500, 500);
  EXPECT_GT(accuracy, 0.15);
  EXPECT_LT(accuracy, 0.5);
}

}  // namespace
}  // namespace trireme::data
