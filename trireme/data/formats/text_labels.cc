// SPDX-License-Identifier: Apache-2.0
// Texts are numbered as they come and renumbered at the end.
#include "trireme/data/formats/text_labels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/data/formats/class_count.h"

namespace trireme::data {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

TextLabels::TextLabels(std::vector<std::string> class_names, std::int64_t classes, std::int64_t first_label)
    : class_names_(std::move(class_names)), classes_(classes), first_label_(first_label) {}

void TextLabels::add(std::string_view text, const std::string& place) {
  if (text.empty()) throw Error{data_loss, "{}: expected a label, found nothing", place};
  auto found = seen_.find(text);
  if (found == seen_.end()) {
    if (static_cast<std::int64_t>(seen_.size()) >= kMaxClasses)
      throw Error{data_loss, "{}: expected at most {} different labels, found more; is this the label's column?", place, kMaxClasses};
    if (!class_names_.empty() && !whole_number(text) && std::ranges::find(class_names_, text) == class_names_.end())
      throw Error{data_loss, "{}: expected a label out of class_names ({}), found '{}'", place, fmt::join(class_names_, ", "), text};
    found = seen_.emplace(text, Seen{.id = static_cast<std::int32_t>(seen_.size()), .place = place}).first;
  }
  ids_.push_back(found->second.id);
}

std::vector<std::int32_t> TextLabels::finish(SampleFormat& format) const {
  std::vector<std::int32_t> label_of(seen_.size());
  format.class_names = class_names_;
  if (are_numbers()) {
    const std::int64_t classes = class_names_.empty() ? classes_ : static_cast<std::int64_t>(class_names_.size());
    for (const auto& [text, seen] : seen_) label_of[static_cast<std::size_t>(seen.id)] = numbered(text, seen, classes);
    format.classes = count_classes(label_of, classes);
  } else {
    check_names();
    for (const auto& [text, seen] : seen_) {
      if (class_names_.empty()) format.class_names.push_back(text);
      const auto at = std::ranges::find(format.class_names, text) - format.class_names.begin();
      label_of[static_cast<std::size_t>(seen.id)] = static_cast<std::int32_t>(at);
    }
    format.classes = static_cast<std::int64_t>(format.class_names.size());
  }
  std::vector<std::int32_t> labels;
  labels.reserve(ids_.size());
  for (const std::int32_t id : ids_) labels.push_back(label_of[static_cast<std::size_t>(id)]);
  return labels;
}

// Names may look like numbers: then they are names.
bool TextLabels::are_numbers() const {
  if (class_names_.empty()) return all_numbers();
  const bool all_names =
      std::ranges::all_of(seen_, [&](const auto& entry) { return std::ranges::find(class_names_, entry.first) != class_names_.end(); });
  return !all_names && all_numbers();
}

std::int32_t TextLabels::numbered(std::string_view text, const Seen& seen, std::int64_t classes) const {
  const std::int64_t number = whole_number(text).value_or(0);
  if (number < first_label_)
    throw Error{data_loss, "{}: expected a label of at least {} (first_label), found {}", seen.place, first_label_, number};
  if (classes > 0 && number == classes && first_label_ == 0 && seem_to_count_from_1())
    throw Error{data_loss, "{}: expected a label from 0 to {}, found {}; first_label = 1 if they count from 1", seen.place, classes - 1,
                number};
  return checked_label(number - first_label_, classes, seen.place);
}

void TextLabels::check_names() const {
  for (const auto& [text, seen] : seen_) {
    if (!class_names_.empty() && std::ranges::find(class_names_, text) == class_names_.end())
      throw Error{data_loss, "{}: expected a label out of class_names ({}), found '{}'", seen.place, fmt::join(class_names_, ", "), text};
  }
}

bool TextLabels::seem_to_count_from_1() const {
  if (first_label_ != 0 || !are_numbers() || seen_.size() < 2) return false;
  const auto lowest = std::ranges::min_element(seen_, {}, [](const auto& entry) { return whole_number(entry.first).value_or(0); });
  return whole_number(lowest->first) == 1;
}

bool TextLabels::all_numbers() const {
  return std::ranges::all_of(seen_, [](const auto& entry) { return whole_number(entry.first).has_value(); });
}

}  // namespace trireme::data
