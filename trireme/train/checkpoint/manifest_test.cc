// SPDX-License-Identifier: Apache-2.0
// Tests of manifests: every double keeps its bits, and versions are refused by name.
#include "trireme/train/checkpoint/manifest.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::train {
namespace {

std::uint64_t bits_back(double value) {
  const Manifest read = parse_manifest(manifest_text({.cursor = {.loss_sum = value}}), "m");
  return std::bit_cast<std::uint64_t>(read.cursor.loss_sum);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string fault(const std::string& text) {
  return thrown_error([&] { parse_manifest(text, "m"); });
}

TEST(Manifest, DoublesOfAnyBitsComeBack) {
  RandomStream random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random.bits();  // NaNs with any payload among them
    ASSERT_EQ(bits_back(std::bit_cast<double>(bits)), bits);
  }
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 0.1, 1e23, 5e-324, Limits::max(), Limits::min(), Limits::infinity(), -Limits::infinity(),
                             Limits::quiet_NaN(), -Limits::quiet_NaN()})
    EXPECT_EQ(bits_back(value), std::bit_cast<std::uint64_t>(value)) << value;
}

TEST(Manifest, WholeNumbersComeBackToTheirLimits) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Manifest read = parse_manifest(manifest_text({.cursor = {.step = Limits::max(), .best_epoch = Limits::min()}}), "m");
  EXPECT_EQ(read.cursor.step, Limits::max());
  EXPECT_EQ(read.cursor.best_epoch, Limits::min());
}

TEST(Manifest, FloatsOfTheNormalizationKeepTheirBits) {
  const std::vector<float> mean = {0.1F, 1.0F / 3, 1e-45F, std::numeric_limits<float>::max(), -std::numeric_limits<float>::infinity()};
  EXPECT_EQ(parse_manifest(manifest_text({.normalization = {.kind = "mean", .mean = mean}}), "m").normalization.mean, mean);
}

TEST(Manifest, NamesThatAreNoTextDontStopACheckpoint) {
  const Manifest read = parse_manifest(manifest_text({.class_names = {"caf\xe9"}}), "m");
  EXPECT_EQ(read.class_names.front(), "caf\xef\xbf\xbd");
}

TEST(Manifest, ANewerVersionIsRefusedByName) {
  EXPECT_EQ(fault(replaced(manifest_text({}), R"("version": 1)", R"("version": 3)")),
            "failed_precondition: m has format version 3, this Trireme reads up to version 2; use a newer Trireme");
  EXPECT_EQ(fault(replaced(manifest_text({}), R"("version": 1)", R"("version": 0)")),
            "data_loss: m is no manifest of a checkpoint: there is no format version 0");
}

TEST(Manifest, WhatIsNoManifestIsDataLoss) {
  const std::string good = manifest_text({});
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), replaced(good, "trireme-checkpoint", "other"),
        replaced(good, "\"loss_sum\": 0.0", "\"loss_sum\": \"0xzz\""), replaced(good, "\"step\": 0", "\"step\": 0.5"),
        replaced(good, "\"best_epoch\"", "\"worst_epoch\""), replaced(good, "\"mean\": []", "\"mean\": [[]]"), good.substr(0, 200)})
    EXPECT_TRUE(fault(text).starts_with("data_loss: m is no manifest of a checkpoint: ")) << text;
}

}  // namespace
}  // namespace trireme::train
