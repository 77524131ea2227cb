// SPDX-License-Identifier: Apache-2.0
// Synthetic digits are reproducible, varied, in range, and learnable.
#include "trireme/data/synthetic/synthetic_digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace trireme::data {
namespace {

std::vector<float> image_of(const SyntheticDigits& digits, std::int64_t index) {
  std::vector<float> image(SyntheticDigits::kPixels);
  digits.make_image(index, image);
  return image;
}

TEST(SyntheticDigits, ASampleIsAPureFunctionOfSeedAndIndex) {
  const SyntheticDigits digits(5);
  const std::vector<float> image = image_of(digits, 17);
  EXPECT_EQ(image_of(SyntheticDigits(5), 17), image);
  EXPECT_NE(image_of(digits, 18), image);
  EXPECT_NE(image_of(SyntheticDigits(6), 17), image);
}

TEST(SyntheticDigits, ValuesAreGreyAndThereIsInk) {
  const SyntheticDigits digits(1);
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::vector<float> image = image_of(digits, i);
    EXPECT_GE(*std::min_element(image.begin(), image.end()), 0.0F);
    EXPECT_LE(*std::max_element(image.begin(), image.end()), 1.0F);
    const auto ink = std::count_if(image.begin(), image.end(), [](float value) { return value > 0.5F; });
    EXPECT_GT(ink, 15) << "sample " << i;
    EXPECT_LT(ink, 350) << "sample " << i;
  }
}

TEST(SyntheticDigits, LabelsAreSpreadEvenly) {
  const SyntheticDigits digits(2);
  std::array<int, SyntheticDigits::kClasses> counts{};
  for (std::int64_t i = 0; i < 10000; ++i) ++counts.at(static_cast<std::size_t>(digits.label(i)));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

// Even the nearest mean image recognises most of them, and far from all: there is something to learn.
TEST(SyntheticDigits, CanBeLearned) {
  const SyntheticDigits digits(3);
  std::vector<std::vector<double>> means(SyntheticDigits::kClasses, std::vector<double>(SyntheticDigits::kPixels));
  std::vector<double> counts(SyntheticDigits::kClasses);
  for (std::int64_t i = 0; i < 3000; ++i) {
    const auto label = static_cast<std::size_t>(digits.label(i));
    const std::vector<float> image = image_of(digits, i);
    for (std::size_t pixel = 0; pixel < image.size(); ++pixel) means[label][pixel] += image[pixel];
    ++counts[label];
  }
  int correct = 0;
  for (std::int64_t i = 3000; i < 4000; ++i) {
    const std::vector<float> image = image_of(digits, i);
    std::vector<double> distances(means.size());
    for (std::size_t label = 0; label < means.size(); ++label) {
      for (std::size_t pixel = 0; pixel < image.size(); ++pixel) {
        const double difference = image[pixel] - means[label][pixel] / counts[label];
        distances[label] += difference * difference;
      }
    }
    correct += std::min_element(distances.begin(), distances.end()) - distances.begin() == digits.label(i);
  }
  EXPECT_GT(correct, 500);
  EXPECT_LT(correct, 990);
}

}  // namespace
}  // namespace trireme::data
