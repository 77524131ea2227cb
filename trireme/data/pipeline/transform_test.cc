// SPDX-License-Identifier: Apache-2.0
// Transform against a slow reading of its description: pad, crop, flip, normalise one after the other.
#include "trireme/data/pipeline/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "trireme/base/parallel.h"
#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<std::byte> random_sample(const SampleFormat& format, std::uint64_t key) {
  std::vector<std::byte> sample(format.sample_bytes());
  RandomStream random(key);
  if (format.element == Element::u8) {
    for (std::byte& value : sample) value = static_cast<std::byte>(random.below(256));
  } else {
    for (std::size_t i = 0; i < sample.size(); i += sizeof(float)) {
      const auto value = static_cast<float>(random.normal());
      std::memcpy(&sample[i], &value, sizeof value);
    }
  }
  return sample;
}

double stored_value(const SampleFormat& format, const std::vector<std::byte>& sample, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (format.element == Element::u8) return std::to_integer<int>(sample[at]) / 255.0;
  float value = 0;
  std::memcpy(&value, &sample[at * sizeof(float)], sizeof value);
  return value;
}

struct Decision {
  bool mirrored = false;
  std::int64_t top = 0, left = 0;                     // of the crop in the padded image
  auto operator<=>(const Decision&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes its 0 for a pointer
};

// What an image is after these decisions, with mean 0.25 c and scale 1 + c for channel c.
std::vector<float> expected_image(const SampleFormat& format, const std::vector<std::byte>& sample, std::int64_t pad, Decision d) {
  const std::int64_t channels = format.shape[0], height = format.shape[1], width = format.shape[2];
  std::vector<float> out;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t from_y = y + d.top - pad, from_x = (d.mirrored ? width - 1 - x : x) + d.left - pad;
        const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        const double value = inside ? stored_value(format, sample, (c * height + from_y) * width + from_x) : 0;
        out.push_back(static_cast<float>((value - 0.25 * static_cast<double>(c)) * static_cast<double>(1 + c)));
      }
    }
  }
  return out;
}

bool near(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-5F) return false;
  return a.size() == b.size();
}

std::vector<float> applied(const Transform& transform, const std::vector<std::byte>& sample, std::size_t values, std::uint64_t key = 0) {
  std::vector<float> out(values, NAN);
  transform.apply(sample, key, out);
  return out;
}

Normalization slanted(std::int64_t channels) {
  Normalization normalization{.kind = "standard"};
  for (std::int64_t c = 0; c < channels; ++c) {
    normalization.mean.push_back(0.25F * static_cast<float>(c));
    normalization.scale.push_back(static_cast<float>(1 + c));
  }
  return normalization;
}

class TransformTest : public testing::TestWithParam<Element> {};

TEST_P(TransformTest, EveryCropAndFlipComesAndIsRight) {
  const SampleFormat format{.shape = {3, 5, 7}, .element = GetParam()};
  const std::vector<std::byte> sample = random_sample(format, 1);
  constexpr std::int64_t kPad = 2;
  const Transform transform(format, slanted(3), {.flip = true, .pad = kPad});
  std::map<Decision, int> seen;
  for (std::uint64_t key = 0; key < 2000; ++key) {
    const std::vector<float> values = applied(transform, sample, 105, key);
    for (int choice = 0; choice < 50; ++choice) {
      const Decision decision{.mirrored = choice >= 25, .top = choice / 5 % 5, .left = choice % 5};
      if (near(values, expected_image(format, sample, kPad, decision))) ++seen[decision];
    }
  }
  ASSERT_EQ(seen.size(), 50U);
  int total = 0;
  for (const auto& [decision, count] : seen) {
    EXPECT_NEAR(count, 40, 30);
    total += count;
  }
  EXPECT_EQ(total, 2000);
}

TEST_P(TransformTest, WithoutAugmentationTheKeyMeansNothing) {
  const SampleFormat format{.shape = {2, 4, 33}, .element = GetParam()};
  const std::vector<std::byte> sample = random_sample(format, 2);
  const Transform transform(format, slanted(2));
  EXPECT_TRUE(near(applied(transform, sample, 264, 1), expected_image(format, sample, 0, {})));
  EXPECT_EQ(applied(transform, sample, 264, 1), applied(transform, sample, 264, 2));
}

TEST_P(TransformTest, PerSampleMakesMean0AndDeviation1OfWhatTheNetworkSees) {
  const SampleFormat format{.shape = {3, 9, 9}, .element = GetParam()};
  const Transform transform(format, {.kind = "per_sample"}, {.flip = true, .pad = 3});
  for (std::uint64_t key = 0; key < 20; ++key) {
    double sum = 0, squares = 0;
    for (const float value : applied(transform, random_sample(format, key), 243, key)) {
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    EXPECT_NEAR(sum / 243, 0, 1e-6);
    EXPECT_NEAR(squares / 243, 1, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, TransformTest, testing::Values(Element::u8, Element::f32),
                         [](const auto& instance) { return instance.param == Element::u8 ? "u8" : "f32"; });

TEST(Transform, BytesWithoutNormalizationAreFrom0To1) {
  const Transform transform({.shape = {3}}, {});
  EXPECT_THAT(applied(transform, {std::byte{0}, std::byte{51}, std::byte{255}}, 3), Pointwise(FloatNear(1e-7F), {0.0F, 0.2F, 1.0F}));
}

TEST(Transform, AConstantSampleBecomesZeros) {
  const Transform transform({.shape = {4}}, {.kind = "per_sample"});
  EXPECT_THAT(applied(transform, std::vector<std::byte>(4, std::byte{77}), 4), ElementsAre(0, 0, 0, 0));
}

TEST(Transform, RanksOneAndTwoMoveAlongTheirWidth) {
  const std::vector<std::byte> sample{std::byte{255}, std::byte{51}, std::byte{0}, std::byte{255}};
  const Transform features({.shape = {4}}, {.kind = "mean", .mean = {1, 2, 3, 4}, .scale = {1, 1, 1, 1}}, {.pad = 1});
  const Transform channels({.shape = {2, 2}}, {.kind = "mean", .mean = {1, 2}, .scale = {1, 1}}, {.pad = 1});
  std::map<std::vector<float>, int> first, second;
  for (std::uint64_t key = 0; key < 100; ++key) {
    ++first[applied(features, sample, 4, key)];
    ++second[applied(channels, sample, 4, key)];
  }
  // The mean belongs to the place in the result, as if normalised after the crop.
  const auto nearly = [](const std::vector<float>& values) { return testing::Key(Pointwise(FloatNear(1e-6F), values)); };
  EXPECT_THAT(first, testing::UnorderedElementsAre(nearly({0, -1.8F, -3, -3}), nearly({-1, -1, -2.8F, -4}), nearly({-0.8F, -2, -2, -4})));
  EXPECT_THAT(second, testing::UnorderedElementsAre(nearly({0, -0.8F, -2, -1}), nearly({-1, 0, -2, -2}), nearly({-0.8F, -1, -1, -2})));
}

TEST(Transform, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(thrown_error([] {
                Transform({.shape = {3, 5}}, {}, {.flip = true});
              }),
              AllOf(HasSubstr("invalid_argument: flip"), HasSubstr("3x5")));
  EXPECT_EQ(thrown_error([] {
              Transform({.shape = {1, 5, 4}}, {}, {.pad = 4});
            }),
            "invalid_argument: pad = 4 is not between 0 and 3 for samples of 1x5x4");
  EXPECT_THAT(thrown_error([] { Transform({.shape = {1, 5, 4}}, slanted(3)); }), HasSubstr("has 3 means, but samples of 1x5x4 need 1"));
  EXPECT_THAT(thrown_error([] { Transform({.shape = {4}}, {.kind = "standart"}); }), HasSubstr("unknown normalisation \"standart\""));
}

std::unique_ptr<Source> source_of(const SampleFormat& format, std::int64_t samples) {
  MemorySamples all{.format = format};
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::vector<std::byte> sample = random_sample(format, static_cast<std::uint64_t>(i));
    all.values.insert(all.values.end(), sample.begin(), sample.end());
  }
  return std::make_unique<MemorySource>(std::move(all));
}

TEST(MeasureNormalization, TransformedSamplesHaveMean0AndDeviation1) {
  for (const Element element : {Element::u8, Element::f32}) {
    const SampleFormat format{.shape = {2, 3, 4}, .element = element};
    const auto source = source_of(format, 500);
    const Transform transform(format, measure_normalization(*source, "standard"));
    std::vector<std::byte> sample(format.sample_bytes());
    std::array<double, 2> sums{}, squares{};
    for (std::int64_t i = 0; i < 500; ++i) {
      source->read(i, sample);
      const std::vector<float> values = applied(transform, sample, 24);
      for (std::size_t v = 0; v < 24; ++v) {
        sums.at(v / 12) += values[v];
        squares.at(v / 12) += static_cast<double>(values[v]) * values[v];
      }
    }
    for (const double sum : sums) EXPECT_NEAR(sum / 6000, 0, 1e-5);
    for (const double square : squares) EXPECT_NEAR(square / 6000, 1, 1e-4);
  }
}

TEST(MeasureNormalization, OneNumberAFeatureAndNoneDividesBy0) {
  MemorySamples samples{.format = {.shape = {3}, .element = Element::f32}};
  for (const float value : {1e6F, 0.1F, -1.0F, 1e6F + 2, 0.1F, 1.0F}) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    samples.values.insert(samples.values.end(), bytes.begin(), bytes.end());
  }
  const MemorySource source(std::move(samples));
  const Normalization standard = measure_normalization(source, "standard");
  EXPECT_THAT(standard.mean, ElementsAre(1e6F + 1, 0.1F, 0));
  EXPECT_THAT(standard.scale, ElementsAre(1, 1, 1));
  EXPECT_THAT(measure_normalization(source, "mean").scale, ElementsAre(1, 1, 1));
  EXPECT_TRUE(measure_normalization(source, "per_sample").mean.empty());
  EXPECT_THAT(thrown_error([&] { measure_normalization(source, "max"); }), HasSubstr("unknown normalisation \"max\""));
}

TEST(MeasureNormalization, ThreadsChangeNoBit) {
  const auto source = source_of({.shape = {2, 50}, .element = Element::f32}, 777);
  const auto measured = [&](int threads) {
    const ThreadScope scope(threads);
    return measure_normalization(*source, "standard");
  };
  const Normalization one = measured(1);
  EXPECT_EQ(measured(2).mean, one.mean);
  EXPECT_EQ(measured(5).scale, one.scale);
}

TEST(MeasureNormalization, NumbersThatAreNoneAreFound) {
  MemorySamples samples{.format = {.shape = {1}, .element = Element::f32}};
  const float none = NAN;
  samples.values.assign(std::as_bytes(std::span(&none, 1)).begin(), std::as_bytes(std::span(&none, 1)).end());
  EXPECT_THAT(thrown_error([&] { measure_normalization(MemorySource(samples), "mean"); }), HasSubstr("data_loss: channel 0"));
}

}  // namespace
}  // namespace trireme::data
