// SPDX-License-Identifier: Apache-2.0
// Sizes from headers, colours from the pixels of a few pictures.
#include "trireme/inspect/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/parallel.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/image_file_check.h"
#include "trireme/inspect/place.h"

namespace trireme::inspect {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxSide = 64;  // of a sample; a larger one takes a CPU hours
constexpr std::size_t kHeaders = 4000;
constexpr std::size_t kDecoded = 24;

std::vector<fs::path> evenly(const std::vector<fs::path>& all, std::size_t count) {
  if (all.size() <= count) return all;
  std::vector<fs::path> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(all[i * all.size() / count]);
  return some;
}

std::vector<data::ImageSize> sizes_of(const std::vector<fs::path>& files) {
  std::vector<data::ImageSize> all(files.size());
  parallel_ranges(static_cast<std::int64_t>(files.size()), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      try {
        all[static_cast<std::size_t>(i)] = data::check_image_file(files[static_cast<std::size_t>(i)], {.orientation = true});
      } catch (const Error&) {  // the reader names it when it opens the folder
      }
    }
  });
  std::erase_if(all, [](const data::ImageSize& size) { return size.height == 0; });
  return all;
}

template <class Value>
auto median_of(const std::vector<data::ImageSize>& sizes, const Value& value) {
  std::vector<decltype(value(sizes[0]))> all;
  for (const data::ImageSize& size : sizes) all.push_back(value(size));
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  return all[all.size() / 2];
}

bool is_grey(const data::Image& image) {
  if (image.channels == 1) return true;
  for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3) {
    const auto [least, most] = std::minmax({image.pixels[i], image.pixels[i + 1], image.pixels[i + 2]});
    if (most - least > 12) return false;  // JPEG's rounding makes a grey picture slightly coloured
  }
  return true;
}

// A damaged picture says nothing.
bool is_grey_or_damaged(const fs::path& file) {
  try {
    return is_grey(data::decode_image(read_file(file), file.string()));
  } catch (const Error&) {  // the reader names it when it opens the folder
    return true;
  }
}

std::int64_t side(double length) { return std::max<std::int64_t>(std::llround(length / 4) * 4, 8); }

void choose_size(const std::vector<data::ImageSize>& sizes, PictureFacts& facts) {
  const std::int64_t height = median_of(sizes, [](const data::ImageSize& s) { return s.height; });
  const std::int64_t width = median_of(sizes, [](const data::ImageSize& s) { return s.width; });
  const double shape =
      median_of(sizes, [](const data::ImageSize& s) { return static_cast<double>(s.width) / static_cast<double>(s.height); });
  const auto [low, high] = std::ranges::minmax_element(sizes, {}, [](const data::ImageSize& s) { return s.height * s.width; });
  facts.same_size = std::ranges::all_of(sizes, [&](const data::ImageSize& s) { return s.height == height && s.width == width; });
  facts.sizes = facts.same_size
                    ? fmt::format("{}x{}", height, width)
                    : fmt::format("from {}x{} to {}x{}, median {}x{}", low->height, low->width, high->height, high->width, height, width);
  if (facts.same_size && std::max(height, width) <= kMaxSide) {
    facts.height = height;
    facts.width = width;
    return;
  }
  // The median's area in the median's shape, its longer side limited.
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double rows = std::sqrt(area / shape);
  const double shrink = std::min(1.0, static_cast<double>(kMaxSide) / std::max(rows, rows * shape));
  facts.height = std::min(side(rows * shrink), kMaxSide);
  facts.width = std::min(side(rows * shape * shrink), kMaxSide);
  const auto unlike = std::ranges::count_if(sizes, [&](const data::ImageSize& s) {
    const double own = static_cast<double>(s.width) / static_cast<double>(s.height);
    return own > shape * 1.25 || own < shape / 1.25;
  });
  facts.crop = unlike * 20 > std::ssize(sizes);
}

}  // namespace

bool is_picture(const fs::path& file) {
  const std::string extension = lower(file.extension().string());
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

bool is_foreign_picture(const fs::path& file) {
  static constexpr std::array<std::string_view, 9> kFormats{".gif", ".bmp", ".webp", ".tif", ".tiff", ".heic", ".avif", ".ppm", ".pgm"};
  return std::ranges::find(kFormats, lower(file.extension().string())) != kFormats.end();
}

PictureFacts look_at_pictures(const std::vector<fs::path>& pictures) {
  const std::vector<data::ImageSize> sizes = sizes_of(evenly(pictures, kHeaders));
  if (sizes.empty())
    throw Error{data_loss, "{}: this and every other picture looked at is damaged, or no JPEG or PNG file in spite of its name",
                pictures.empty() ? "" : pictures.front().string()};
  PictureFacts facts;
  choose_size(sizes, facts);
  const bool stored_grey = std::ranges::all_of(sizes, [](const data::ImageSize& size) { return size.channels == 1; });
  const bool grey = stored_grey || std::ranges::all_of(evenly(pictures, kDecoded), is_grey_or_damaged);
  facts.channels = grey ? 1 : 3;
  facts.colours = !grey ? "colour" : stored_grey ? "grey" : "grey, stored as colour";
  return facts;
}

void add_picture_options(const PictureFacts& facts, Finding& finding) {
  const bool as_stored = facts.same_size && facts.sizes == fmt::format("{}x{}", facts.height, facts.width);
  finding.options.push_back({"height", std::to_string(facts.height), as_stored ? "as the pictures are" : "every picture is resized"});
  finding.options.push_back({"width", std::to_string(facts.width), ""});
  finding.options.push_back({"channels", std::to_string(facts.channels), facts.colours});
  if (facts.crop) finding.options.push_back({"fit", "\"crop\"", "shapes differ: the middle is cut out rather than stretched"});
  finding.options.push_back({"on_damage", "\"skip\"", "a damaged picture is left out, with a warning"});
  finding.facts.push_back(fmt::format("{} ({}){}", facts.sizes, facts.colours,
                                      as_stored ? "" : fmt::format("; every picture becomes {}x{}", facts.height, facts.width)));
}

bool may_be_mirrored(const PictureFacts& facts, const std::vector<std::string>& class_names) {
  if (facts.channels == 1) return false;
  return std::ranges::none_of(class_names, [](const std::string& name) {
    const std::string word = lower(name);
    return word.size() <= 1 || word.find("left") != std::string::npos || word.find("right") != std::string::npos ||
           std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  });
}

}  // namespace trireme::inspect
