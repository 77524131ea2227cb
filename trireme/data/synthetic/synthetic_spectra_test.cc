// SPDX-License-Identifier: Apache-2.0
// Synthetic spectra are reproducible, have their lines where the redshift puts them, and can be distinguished.
#include "trireme/data/synthetic/synthetic_spectra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "trireme/data/testing/nearest_centroid.h"

namespace trireme::data {
namespace {

std::vector<float> spectrum_of(const SyntheticSpectra& spectra, std::int64_t index, std::int64_t width = 1024) {
  std::vector<float> spectrum(static_cast<std::size_t>(width));
  spectra.make_spectrum(index, spectrum);
  return spectrum;
}

TEST(SyntheticSpectra, ASampleIsAPureFunctionOfSeedAndIndex) {
  const SyntheticSpectra spectra(5, {});
  const std::vector<float> spectrum = spectrum_of(spectra, 17);
  EXPECT_EQ(spectrum_of(SyntheticSpectra(5, {}), 17), spectrum);
  EXPECT_NE(spectrum_of(spectra, 18), spectrum);
  EXPECT_NE(spectrum_of(SyntheticSpectra(6, {}), 17), spectrum);
}

TEST(SyntheticSpectra, LabelsAreBinsOfTheRedshift) {
  const SyntheticSpectra spectra(2, {.redshift = {.bins = 5, .min = 0.5, .max = 1.5}});
  std::vector<int> counts(5);
  for (std::int64_t i = 0; i < 5000; ++i) {
    EXPECT_EQ(spectra.label(i), static_cast<std::int32_t>(std::floor((spectra.redshift(i) - 0.5) * 5)));
    ++counts.at(static_cast<std::size_t>(spectra.label(i)));
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(SyntheticSpectra, AreFiniteEvenFarAwayAndInTheFarUltraviolet) {
  const SyntheticSpectra spectra(1, {.width = 64, .lambda_min = 2, .lambda_max = 5, .redshift = {.bins = 2, .min = 0, .max = 20}});
  for (std::int64_t i = 0; i < 200; ++i)
    for (const float value : spectrum_of(spectra, i, 64)) EXPECT_TRUE(std::isfinite(value)) << i;
}

// In most noiseless galaxies with emission the brightest pixel is a strong line, moved by 1 + z.
TEST(SyntheticSpectra, LinesMoveWithTheRedshift) {
  const SyntheticSpectrumForm form{.redshift = {.bins = 10, .min = 0.1, .max = 0.35}, .noise = 0};
  const SyntheticSpectra spectra(4, form);
  int with_emission = 0, explained = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::vector<float> spectrum = spectrum_of(spectra, i);
    const auto brightest = std::max_element(spectrum.begin(), spectrum.end());
    if (*brightest < 6) continue;
    ++with_emission;
    const double place = (static_cast<double>(brightest - spectrum.begin()) + 0.5) / static_cast<double>(form.width);
    const double wavelength = std::pow(10, form.lambda_min + (form.lambda_max - form.lambda_min) * place) / (1 + spectra.redshift(i));
    for (const double line : {3728.48, 5008.24, 6564.61}) explained += std::abs(wavelength - line) < 4 ? 1 : 0;
  }
  EXPECT_GT(with_emission, 20);
  EXPECT_EQ(explained, with_emission);
}

// Chance is 10 %: the break and the colours show, the lines are for a network.
TEST(SyntheticSpectra, ClassesCanBeDistinguished) {
  const SyntheticSpectra spectra(3, {.width = 128});
  const double accuracy = nearest_centroid_accuracy(
      [&](std::int64_t i) {
        return LabelledSample{spectrum_of(spectra, i, 128), spectra.label(i)};
      },
      10, 2000, 500);
  EXPECT_GT(accuracy, 0.15);
  EXPECT_LT(accuracy, 0.7);
}

}  // namespace
}  // namespace trireme::data
