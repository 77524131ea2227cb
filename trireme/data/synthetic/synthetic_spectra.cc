// SPDX-License-Identifier: Apache-2.0
// A power law with a break at 4000 Angstrom, and lines of the right places and about the right strengths.
#include "trireme/data/synthetic/synthetic_spectra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::data {
namespace {

enum class Kind { passive, star_forming, quasar };

// Rest wavelength in vacuum, and mean equivalent widths, both in Angstrom; absorption is negative.
struct Line {
  double wavelength, passive, star_forming, quasar;

  double width(Kind kind) const { return kind == Kind::passive ? passive : kind == Kind::star_forming ? star_forming : quasar; }
};

constexpr std::array<Line, 26> kLines{{
    {1215.67, 0, 0, 80},    // Ly alpha
    {1240.81, 0, 0, 15},    // N V
    {1397.61, 0, 0, 8},     // Si IV
    {1549.48, 0, 0, 30},    // C IV
    {1640.40, 0, 0, 5},     // He II
    {1908.73, 0, 0, 21},    // C III]
    {2799.12, -3, -3, 32},  // Mg II
    {3728.48, 2, 25, 2},    // [O II], both
    {3869.77, 0, 4, 2},     // [Ne III]
    {3934.77, -8, -2, 0},   // Ca K
    {3969.59, -7, -2, 0},   // Ca H
    {4102.89, -2, 3, 5},    // H delta
    {4305.61, -5, -1, 0},   // G band
    {4341.68, -1, 7, 12},   // H gamma
    {4862.68, -2, 18, 46},  // H beta
    {4960.30, 0, 12, 5},    // [O III]
    {5008.24, 1, 36, 14},   // [O III]
    {5176.63, -5, -1, 0},   // Mg b
    {5270.97, -3, -1, 0},   // Fe
    {5895.60, -4, -1, 0},   // Na D
    {6302.05, 0, 3, 1},     // [O I]
    {6549.86, 1, 8, 2},     // [N II]
    {6564.61, 1, 70, 195},  // H alpha
    {6585.27, 2, 24, 5},    // [N II]
    {6718.29, 1, 14, 2},    // [S II]
    {6732.67, 1, 10, 2},    // [S II]
}};

bool is_permitted_in_quasars(const Line& line) { return line.quasar >= 5; }  // these come from the fast gas near the centre

struct Body {
  Kind kind;
  double slope, break_depth, curvature;
  double narrow, broad;  // velocity dispersions over the speed of light
};

Kind draw_kind(double redshift, RandomStream& random) {
  const double quasars = std::clamp(0.15 + 0.4 * (redshift - 0.5), 0.15, 0.9);  // farther galaxies are too faint to be chosen
  const double chance = random.uniform();
  if (chance < quasars) return Kind::quasar;
  return random.uniform() < 0.5 ? Kind::passive : Kind::star_forming;
}

Body draw_body(double redshift, RandomStream& random) {
  Body body{};
  body.kind = draw_kind(redshift, random);
  body.slope = body.kind == Kind::passive ? random.uniform(-0.3, 0.6) : random.uniform(-1.8, -0.6);
  body.break_depth = body.kind == Kind::passive        ? random.uniform(0.4, 0.6)
                     : body.kind == Kind::star_forming ? random.uniform(0.05, 0.25)
                                                       : 0;
  body.curvature = random.uniform(-0.3, 0.3);  // what the calibration leaves
  body.narrow = random.uniform(100, 300) / 299792.458;
  body.broad = random.uniform(1500, 4000) / 299792.458;
  return body;
}

struct Bump {  // a line where and as it is observed, over ln(wavelength)
  double centre, deviation, height;
};

// Only what is within the observed range; the pixel itself widens a line.
std::vector<Bump> draw_bumps(const Body& body, double redshift, double pixel, RandomStream& random) {
  std::vector<Bump> bumps;
  const double common = std::exp(0.35 * random.normal());
  for (const Line& line : kLines) {
    const double width = line.width(body.kind) * common * std::exp(0.25 * random.normal());
    const bool fast = body.kind == Kind::quasar && is_permitted_in_quasars(line);
    const double deviation = std::hypot(fast ? body.broad : body.narrow, pixel / 2);
    const double height = width / line.wavelength / (deviation * std::sqrt(2 * std::numbers::pi));
    bumps.push_back({std::log(line.wavelength * (1 + redshift)), deviation, std::max(height, -0.85)});
  }
  return bumps;
}

double continuum(const Body& body, double rest_wavelength, double place) {
  const double power = std::pow(rest_wavelength / 5000, body.slope);
  const double below_break = 1 / (1 + std::exp((rest_wavelength - 4000) / 40));
  const double forest = body.kind == Kind::quasar && rest_wavelength < 1215.67 ? 0.6 : 1;  // hydrogen on the way absorbs
  return power * (1 - body.break_depth * below_break) * (1 + body.curvature * (place - 0.5)) * forest;
}

std::uint64_t sample_stream(std::uint64_t seed, std::int64_t index) {
  return combine(combine(hash_text("synthetic spectra"), seed), static_cast<std::uint64_t>(index));
}

void add_bump(const Bump& bump, double first, double step, std::span<float> factors) {
  const double reach = 5 * bump.deviation;
  const auto limit = [&](double place) { return std::clamp((place - first) / step, 0.0, static_cast<double>(factors.size())); };
  const auto begin = static_cast<std::size_t>(limit(bump.centre - reach)), end = static_cast<std::size_t>(limit(bump.centre + reach));
  for (std::size_t i = begin; i < end; ++i) {
    const double distance = (first + step * (static_cast<double>(i) + 0.5) - bump.centre) / bump.deviation;
    factors[i] += static_cast<float>(bump.height * std::exp(-0.5 * distance * distance));
  }
}

}  // namespace

double SyntheticSpectra::redshift(std::int64_t index) const {
  return RandomStream(sample_stream(seed_, index)).uniform(form_.redshift.min, form_.redshift.max);
}

void SyntheticSpectra::make_spectrum(std::int64_t index, std::span<float> spectrum) const {
  ensure(static_cast<std::int64_t>(spectrum.size()) == form_.width, "a spectrum has width pixels");
  RandomStream random(combine(sample_stream(seed_, index), 1));
  const double z = redshift(index);
  const Body body = draw_body(z, random);
  const double first = form_.lambda_min * std::numbers::ln10;
  const double step = (form_.lambda_max - form_.lambda_min) * std::numbers::ln10 / static_cast<double>(form_.width);
  std::fill(spectrum.begin(), spectrum.end(), 1.0F);
  for (const Bump& bump : draw_bumps(body, z, step, random)) add_bump(bump, first, step, spectrum);

  const double middle = std::exp(first + step * static_cast<double>(form_.width) / 2) / (1 + z);
  const double scale = std::exp(0.3 * random.normal()) / continuum(body, middle, 0.5);
  for (std::size_t i = 0; i < spectrum.size(); ++i) {
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(form_.width);
    const double rest = std::exp(first + step * (static_cast<double>(i) + 0.5)) / (1 + z);
    const double noise = form_.noise * (1 + 2 * std::pow(2 * place - 1, 4)) * random.normal();  // detectors are worse at their ends
    spectrum[i] = static_cast<float>(scale * continuum(body, rest, place) * std::max(spectrum[i], 0.05F) + noise);
  }
}

}  // namespace trireme::data
