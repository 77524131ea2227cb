// SPDX-License-Identifier: Apache-2.0
// The visitors of option descriptions: parsing, range checks, dumps and lists.
#include "trireme/base/options.h"

#include <algorithm>
#include <numeric>

#include "trireme/base/error.h"

namespace trireme {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

template <class Number>
std::string range_text(Number min, Number max, Number lowest, Number highest) {
  if (min == lowest && max == highest) return "";
  if (max == highest) return fmt::format("at least {}", min);
  if (min == lowest) return fmt::format("at most {}", max);
  return fmt::format("{} to {}", min, max);
}

std::string range_of(std::int64_t min, std::int64_t max) { return range_text(min, max, -kNoLimit, kNoLimit); }
std::string range_of(double min, double max) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return range_text(min, max, -infinity, infinity);
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  const auto closest = std::min_element(candidates.begin(), candidates.end(),
                                        [&](auto a, auto b) { return edit_distance(word, a) < edit_distance(word, b); });
  if (closest == candidates.end() || edit_distance(word, *closest) > std::max<std::size_t>(1, word.size() / 3)) return "";
  return std::string(*closest);
}

OptionReader::OptionReader(const Config& table, std::string place, std::vector<std::string_view> reserved)
    : table_(table), place_(std::move(place)), known_(std::move(reserved)) {}

const Config* OptionReader::find(std::string_view name) {
  known_.push_back(name);
  return table_.find(name);
}

void OptionReader::finish() const {
  for (const auto& [key, value] : table_.table()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string guess = nearest(key, known_);
    throw Error{invalid_argument,
                "{}: {} has no option '{}'{}",
                value.origin(),
                place_,
                key,
                guess.empty() ? fmt::format("; it has: {}", fmt::join(known_, ", ")) : fmt::format("; did you mean '{}'?", guess)};
  }
}

void OptionReader::integer(std::string_view name, std::int64_t& value, std::string_view, std::int64_t min, std::int64_t max) {
  const Config* found = find(name);
  if (found == nullptr) return;
  value = found->integer();
  if (value < min || value > max)
    throw Error{invalid_argument, "{}: {}: {} = {}, must be {}", found->origin(), place_, name, value, range_of(min, max)};
}

void OptionReader::real(std::string_view name, double& value, std::string_view, double min, double max) {
  const Config* found = find(name);
  if (found == nullptr) return;
  value = found->real();
  if (!(value >= min && value <= max))
    throw Error{invalid_argument, "{}: {}: {} = {}, must be {}", found->origin(), place_, name, value, range_of(min, max)};
}

void OptionReader::boolean(std::string_view name, bool& value, std::string_view) {
  if (const Config* found = find(name)) value = found->boolean();
}

void OptionReader::text(std::string_view name, std::string& value, std::string_view, const std::vector<std::string_view>& choices) {
  const Config* found = find(name);
  if (found == nullptr) return;
  // "auto", true and false: a truth needs no quotes.
  const std::string plain = found->to_toml();
  value = std::find(choices.begin(), choices.end(), plain) != choices.end() ? plain : found->text();
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
    throw Error{invalid_argument, "{}: {}: {} = \"{}\", must be one of {}", found->origin(), place_, name, value, fmt::join(choices, ", ")};
}

void OptionReader::reals(std::string_view name, std::vector<double>& value, std::string_view) {
  const Config* found = find(name);
  if (found == nullptr) return;
  value.clear();
  for (const Config& item : found->list()) value.push_back(item.real());
}

void OptionReader::texts(std::string_view name, std::vector<std::string>& value, std::string_view) {
  const Config* found = find(name);
  if (found == nullptr) return;
  value.clear();
  if (found->is_text()) {
    value.push_back(found->text());
    return;
  }
  for (const Config& item : found->list()) value.push_back(item.text());
}

void OptionLister::integer(std::string_view name, std::int64_t& value, std::string_view help, std::int64_t min, std::int64_t max) {
  rows.push_back({std::string(name), fmt::format("{}", value), range_of(min, max), std::string(help)});
}

void OptionLister::real(std::string_view name, double& value, std::string_view help, double min, double max) {
  rows.push_back({std::string(name), fmt::format("{}", value), range_of(min, max), std::string(help)});
}

void OptionLister::boolean(std::string_view name, bool& value, std::string_view help) {
  rows.push_back({std::string(name), value ? "true" : "false", "", std::string(help)});
}

void OptionLister::text(std::string_view name, std::string& value, std::string_view help, const std::vector<std::string_view>& choices) {
  rows.push_back({std::string(name), toml_quoted(value), fmt::format("{}", fmt::join(choices, " | ")), std::string(help)});
}

void OptionLister::reals(std::string_view name, std::vector<double>& value, std::string_view help) {
  rows.push_back({std::string(name), fmt::format("[{}]", fmt::join(value, ", ")), "", std::string(help)});
}

void OptionLister::texts(std::string_view name, std::vector<std::string>& value, std::string_view help) {
  std::vector<std::string> quoted;
  for (const std::string& text : value) quoted.push_back(toml_quoted(text));
  rows.push_back({std::string(name), fmt::format("[{}]", fmt::join(quoted, ", ")), "", std::string(help)});
}

}  // namespace trireme
