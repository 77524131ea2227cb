// SPDX-License-Identifier: Apache-2.0
// Describes features, and guesses what they are.
#include "trireme/data/records/feature_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "trireme/data/images/image_codec.h"

namespace trireme::data {
namespace {

constexpr std::size_t kMaxLabelBytes = 200;
constexpr std::size_t kMaxListed = 40;

std::string_view kind_of(const wire::Feature& feature) {
  if (feature.has_bytes_list()) return "bytes";
  if (feature.has_int64_list()) return "int64";
  return feature.has_float_list() ? "float" : "empty";
}

std::map<std::string_view, const wire::Feature*> sorted(const wire::Example& example) {
  std::map<std::string_view, const wire::Feature*> out;
  for (const auto& [name, feature] : example.features().feature()) out.emplace(name, &feature);
  return out;
}

// How much a feature looks like the values of a sample: an encoded picture, other bytes, floats.
std::int64_t image_score(const wire::Feature& feature) {
  if (feature.has_float_list()) return feature.float_list().value_size();
  if (!feature.has_bytes_list() || count_of(feature) != 1) return 0;
  const std::string& bytes = feature.bytes_list().value(0);
  if (image_kind(bytes) != ImageKind::unknown) return std::int64_t{1} << 40;
  return is_label_text(bytes) ? 1 : static_cast<std::int64_t>(bytes.size());
}

std::int64_t label_score(std::string_view name, const wire::Feature& feature) {
  static constexpr std::array<std::string_view, 4> kWords{"label", "class", "category", "target"};
  const bool named = std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
  if (count_of(feature) != 1 || !named) return 0;
  if (feature.has_int64_list()) return 2;
  return feature.has_bytes_list() && is_label_text(feature.bytes_list().value(0)) ? 1 : 0;
}

template <class Score>
std::string best(const wire::Example& example, const Score& score) {
  std::string found = "...";
  std::int64_t most = 0;
  for (const auto& [name, feature] : sorted(example)) {
    const std::int64_t value = score(name, *feature);
    if (value <= most) continue;
    most = value;
    found = name;
  }
  return found;
}

}  // namespace

int count_of(const wire::Feature& feature) {
  if (feature.has_bytes_list()) return feature.bytes_list().value_size();
  return feature.has_int64_list() ? feature.int64_list().value_size() : feature.float_list().value_size();
}

std::string found_values(const wire::Feature& feature) {
  const int count = count_of(feature);
  if (count == 0) return "nothing";
  if (feature.has_int64_list()) return count == 1 ? "1 integer" : fmt::format("{} integers", count);
  if (feature.has_float_list())
    return count == 1 ? fmt::format("1 float ({})", feature.float_list().value(0)) : fmt::format("{} floats", count);
  const std::string& first = feature.bytes_list().value(0);
  if (!is_label_text(first))
    return count == 1 ? fmt::format("{} bytes that are no text", first.size()) : fmt::format("{} lists of bytes", count);
  return count == 1 ? fmt::format("1 text ('{}')", first.substr(0, 40)) : fmt::format("{} texts", count);
}

std::string listed_features(const wire::Example& example) {
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, feature] : sorted(example)) {
    if (listed++ == kMaxListed) return text + ", ...";
    text += fmt::format("{}{} ({}, {})", text.empty() ? "" : ", ", name, kind_of(*feature), count_of(*feature));
  }
  return text.empty() ? "none" : text;
}

std::string image_advice(const wire::Example& example) {
  return fmt::format("write data.image = \"{}\"", best(example, [](std::string_view, const wire::Feature& f) { return image_score(f); }));
}

std::string label_advice(const wire::Example& example) {
  return fmt::format("write data.label = \"{}\"",
                     best(example, [](std::string_view name, const wire::Feature& f) { return label_score(name, f); }));
}

bool is_label_text(std::string_view bytes) {
  return !bytes.empty() && bytes.size() <= kMaxLabelBytes &&
         std::ranges::none_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace trireme::data
