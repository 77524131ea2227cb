// SPDX-License-Identifier: Apache-2.0
// Strokes, moved and slanted at random, drawn by the distance of each pixel from them.
#include "trireme/data/synthetic/synthetic_digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::data {
namespace {

struct Point {
  double x = 0, y = 0;
};
using Stroke = std::vector<Point>;

// Each digit in a box from (0, 0), top left, to (1, 1).
const std::array<std::vector<Stroke>, SyntheticDigits::kClasses>& glyphs() {
  static const std::array<std::vector<Stroke>, SyntheticDigits::kClasses> kGlyphs{{
      {{{.5, 0}, {.2, .1}, {.05, .35}, {.05, .65}, {.2, .9}, {.5, 1}, {.8, .9}, {.95, .65}, {.95, .35}, {.8, .1}, {.5, 0}}},
      {{{.3, .2}, {.55, 0}, {.55, 1}}},
      {{{.08, .25}, {.25, .05}, {.55, 0}, {.85, .12}, {.9, .35}, {.7, .6}, {.05, 1}, {.95, 1}}},
      {{{.1, .1}, {.45, 0}, {.85, .1}, {.88, .35}, {.45, .48}, {.9, .6}, {.93, .85}, {.5, 1}, {.05, .9}}},
      {{{.65, 1}, {.65, 0}, {.02, .68}, {.98, .68}}},
      {{{.9, 0}, {.2, 0}, {.15, .45}, {.55, .4}, {.92, .55}, {.92, .85}, {.5, 1}, {.08, .9}}},
      {{{.8, .02}, {.35, .25}, {.08, .6}, {.15, .9}, {.5, 1}, {.88, .88}, {.92, .65}, {.6, .48}, {.15, .65}}},
      {{{.05, 0}, {.95, 0}, {.4, 1}}},
      {{{.5, .46},
        {.15, .3},
        {.2, .08},
        {.5, 0},
        {.8, .08},
        {.85, .3},
        {.5, .46},
        {.08, .68},
        {.15, .92},
        {.5, 1},
        {.85, .92},
        {.92, .68},
        {.5, .46}}},
      {{{.85, .35}, {.4, .52}, {.08, .35}, {.12, .1}, {.5, 0}, {.85, .12}, {.85, .35}, {.8, .7}, {.55, 1}}},
  }};
  return kGlyphs;
}

struct Hand {  // how this sample is written
  double width, height, slant, rotation, thickness, wobble;
  Point centre;
};

Hand draw_hand(RandomStream& random) {
  Hand hand{};
  hand.width = random.uniform(9, 15);
  hand.height = random.uniform(15, 21);
  hand.slant = random.uniform(-0.25, 0.35);
  hand.rotation = random.uniform(-0.2, 0.2);
  hand.thickness = random.uniform(0.8, 1.9);
  hand.wobble = 0.05;
  hand.centre = {.x = 13.5 + random.uniform(-2.5, 2.5), .y = 13.5 + random.uniform(-2.5, 2.5)};
  return hand;
}

Point place(Point p, const Hand& hand, RandomStream& random) {
  const double u = (p.x - 0.5 + hand.wobble * random.uniform(-1, 1)) * hand.width;
  const double v = (p.y - 0.5 + hand.wobble * random.uniform(-1, 1)) * hand.height;
  const double slanted = u - hand.slant * v;
  return {.x = hand.centre.x + slanted * std::cos(hand.rotation) - v * std::sin(hand.rotation),
          .y = hand.centre.y + slanted * std::sin(hand.rotation) + v * std::cos(hand.rotation)};
}

double distance_to_segment(Point p, Point a, Point b) {
  const Point ab{b.x - a.x, b.y - a.y};
  const double length = std::max(ab.x * ab.x + ab.y * ab.y, 1e-9);
  const double along = std::clamp(((p.x - a.x) * ab.x + (p.y - a.y) * ab.y) / length, 0.0, 1.0);
  return std::hypot(p.x - a.x - along * ab.x, p.y - a.y - along * ab.y);
}

// Darkens the pixels near the segment; the edge of the ink is one pixel soft.
void draw_segment(Point a, Point b, double thickness, std::span<float> image) {
  const double reach = thickness + 1;
  const auto first = [&](double x, double y) { return std::max<std::int64_t>(0, std::llround(std::floor(std::min(x, y) - reach))); };
  const auto last = [&](double x, double y) {
    return std::min<std::int64_t>(SyntheticDigits::kExtent - 1, std::llround(std::ceil(std::max(x, y) + reach)));
  };
  for (std::int64_t row = first(a.y, b.y); row <= last(a.y, b.y); ++row) {
    for (std::int64_t column = first(a.x, b.x); column <= last(a.x, b.x); ++column) {
      const Point pixel{static_cast<double>(column), static_cast<double>(row)};
      const double ink = std::clamp(thickness + 0.5 - distance_to_segment(pixel, a, b), 0.0, 1.0);
      float& value = image[static_cast<std::size_t>(row * SyntheticDigits::kExtent + column)];
      value = std::max(value, static_cast<float>(ink));
    }
  }
}

void add_noise(RandomStream& random, std::span<float> image) {
  for (float& value : image) value = std::clamp(value + static_cast<float>(0.15 * random.uniform(-1, 1)), 0.0F, 1.0F);
}

std::uint64_t sample_stream(std::uint64_t seed, std::int64_t index) {
  return combine(combine(hash_text("synthetic digits"), seed), static_cast<std::uint64_t>(index));
}

}  // namespace

std::int32_t SyntheticDigits::label(std::int64_t index) const {
  return static_cast<std::int32_t>(RandomStream(sample_stream(seed_, index)).below(kClasses));
}

void SyntheticDigits::make_image(std::int64_t index, std::span<float> image) const {
  ensure(static_cast<std::int64_t>(image.size()) == kPixels, "a digit has 784 pixels");
  std::fill(image.begin(), image.end(), 0.0F);
  RandomStream random(combine(sample_stream(seed_, index), 1));
  const Hand hand = draw_hand(random);
  for (const Stroke& stroke : glyphs()[static_cast<std::size_t>(label(index))]) {
    Point from = place(stroke.front(), hand, random);
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const Point to = place(stroke[i], hand, random);
      draw_segment(from, to, hand.thickness, image);
      from = to;
    }
  }
  add_noise(random, image);
}

}  // namespace trireme::data
