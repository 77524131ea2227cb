// SPDX-License-Identifier: Apache-2.0
// A shape, known by the distance from its edge, filled with a texture of two colours and laid over a wavy ground.
#include "trireme/data/synthetic/synthetic_images.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::data {
namespace {

using Colour = std::array<double, 3>;
using std::numbers::pi;

struct Point {
  double x = 0, y = 0;
};

enum class Figure { disc, square, triangle, ring, cross, star };
enum class Texture { plain, stripes, checks, circles };
constexpr int kFigures = 6;
constexpr int kTextures = 4;

// Distance from the edge of a figure about as large as the unit circle; negative inside.
double distance_from(Figure figure, Point p) {
  const double radius = std::hypot(p.x, p.y), x = std::abs(p.x), y = std::abs(p.y);
  switch (figure) {
    case Figure::disc:
      return radius - 0.85;
    case Figure::square:
      return std::max(x, y) - 0.75;
    case Figure::triangle:
      return std::max(0.866 * x + 0.5 * p.y, -p.y) - 0.5;
    case Figure::ring:
      return std::abs(radius - 0.7) - 0.22;
    case Figure::cross:
      return std::min(std::max(x - 0.28, y - 0.95), std::max(y - 0.28, x - 0.95));
    case Figure::star:
      return radius - 0.6 - 0.3 * std::cos(5 * std::atan2(p.y, p.x));
  }
  return 0;
}

// From 0 (first colour) to 1 (second colour).
double texture_at(Texture texture, Point p, double frequency) {
  switch (texture) {
    case Texture::plain:
      return 0;
    case Texture::stripes:
      return std::sin(frequency * p.x) > 0 ? 1 : 0;
    case Texture::checks:
      return std::sin(frequency * p.x) * std::sin(frequency * p.y) > 0 ? 1 : 0;
    case Texture::circles:
      return std::sin(frequency * 1.3 * std::hypot(p.x, p.y)) > 0 ? 1 : 0;
  }
  return 0;
}

Colour colour_of(double hue, double saturation, double value) {
  const auto part = [&](double offset) {
    const double turn = std::fmod(hue + offset + 2, 1.0) * 6;
    return value * (1 - saturation * std::clamp(2 - std::abs(turn - 3), 0.0, 1.0));
  };
  return {part(0.0), part(2.0 / 3), part(1.0 / 3)};
}

Colour mixed(const Colour& a, const Colour& b, double share_of_b) {
  Colour out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = a[i] + (b[i] - a[i]) * share_of_b;
  return out;
}

struct Ground {
  Colour first, second;
  Point wave;
  double phase;

  Colour at(Point p) const { return mixed(first, second, 0.5 + 0.5 * std::sin(wave.x * p.x + wave.y * p.y + phase)); }
};

Colour muted_colour(RandomStream& random) {
  const double hue = random.uniform(), saturation = random.uniform(0.1, 0.7);
  return colour_of(hue, saturation, random.uniform(0.15, 0.85));
}

Ground draw_ground(RandomStream& random) {
  Ground ground{};
  ground.first = muted_colour(random);
  ground.second = muted_colour(random);
  ground.wave = {random.uniform(-5, 5), random.uniform(-5, 5)};
  ground.phase = random.uniform(0, 2 * pi);
  return ground;
}

struct Thing {
  Figure figure;
  Texture texture;
  Colour first, second;
  Point centre;
  double radius, turn, frequency;

  // Where `p` is for the figure itself.
  Point inner(Point p) const {
    const double x = (p.x - centre.x) / radius, y = (p.y - centre.y) / radius;
    return {x * std::cos(turn) + y * std::sin(turn), y * std::cos(turn) - x * std::sin(turn)};
  }
};

Thing draw_thing(std::int32_t label, RandomStream& random) {
  Thing thing{};
  thing.figure = static_cast<Figure>(label % kFigures);
  thing.texture = static_cast<Texture>((label + label / kFigures) % kTextures);
  const double hue = label * 0.381966 + random.uniform(-0.15, 0.15);  // golden section: any number of classes is spread
  const double saturation = random.uniform(0.5, 1), value = random.uniform(0.55, 1);
  thing.first = colour_of(hue, saturation, value);
  thing.second = colour_of(hue + random.uniform(-0.1, 0.1), saturation, value * random.uniform(0.1, 0.45));
  thing.radius = random.uniform(0.5, 0.9);
  const double room = 0.95 - thing.radius * 0.8;
  thing.centre = {random.uniform(-room, room), random.uniform(-room, room)};
  thing.turn = random.uniform(0, 2 * pi);
  thing.frequency = random.uniform(6, 9);
  return thing;
}

std::uint64_t sample_stream(std::uint64_t seed, std::int64_t index) {
  return combine(combine(hash_text("synthetic images"), seed), static_cast<std::uint64_t>(index));
}

}  // namespace

std::int32_t SyntheticImages::label(std::int64_t index) const {
  return static_cast<std::int32_t>(RandomStream(sample_stream(seed_, index)).below(static_cast<std::uint64_t>(form_.classes)));
}

void SyntheticImages::make_image(std::int64_t index, std::span<float> image) const {
  const std::int64_t plane = form_.extent * form_.extent;
  ensure(static_cast<std::int64_t>(image.size()) == 3 * plane, "an image has three planes");
  RandomStream random(combine(sample_stream(seed_, index), 1));
  const Ground ground = draw_ground(random);
  const Thing thing = draw_thing(label(index), random);
  const double half = static_cast<double>(form_.extent) / 2;
  for (std::int64_t i = 0; i < plane; ++i) {
    const std::int64_t row = i / form_.extent, column = i % form_.extent;
    const Point p{(static_cast<double>(column) + 0.5) / half - 1, (static_cast<double>(row) + 0.5) / half - 1};
    const Point inner = thing.inner(p);
    const double cover = std::clamp(0.5 - distance_from(thing.figure, inner) * thing.radius * half, 0.0, 1.0);  // soft by one pixel
    const Colour fill = mixed(thing.first, thing.second, texture_at(thing.texture, inner, thing.frequency));
    const Colour colour = mixed(ground.at(p), fill, cover);
    for (std::int64_t c = 0; c < 3; ++c) {
      const double value = colour[static_cast<std::size_t>(c)] + form_.noise * random.normal();
      image[static_cast<std::size_t>(c * plane + i)] = static_cast<float>(std::clamp(value, 0.0, 1.0));
    }
  }
}

}  // namespace trireme::data
