// SPDX-License-Identifier: Apache-2.0
// Values to fields and back, by type.
#include "trireme/observe/record_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "trireme/base/error.h"

namespace trireme::observe {
namespace {

bool has_words(const Field& field) { return !field.words[0].empty(); }

template <class Whole>
std::vector<Whole> numbers_of(const std::string& text) {
  std::vector<Whole> numbers;
  std::istringstream words(text);
  for (Whole number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

template <class Whole>
void read_whole(const Record& from, const Field& field, Whole& value) {
  auto wide = static_cast<std::int64_t>(value);
  read_field(from, field, wide);
  value = static_cast<Whole>(wide);
  if (static_cast<std::int64_t>(value) != wide)
    throw Error{data_loss, "field '{}' of a record '{}' of the journal is {}, which is too large", field.name, from.type, wide};
}

}  // namespace

void append_field(Fields& to, const Field& field, const std::int64_t& value) {
  to.emplace_back(field.name, field.is_from_one ? value + 1 : value);
}
void append_field(Fields& to, const Field& field, const double& value) { to.emplace_back(field.name, value); }
void append_field(Fields& to, const Field& field, const std::optional<double>& value) {
  if (value) to.emplace_back(field.name, *value);
}
void append_field(Fields& to, const Field& field, const bool& value) {
  if (has_words(field))
    to.emplace_back(field.name, std::string(field.words[value ? 1 : 0]));
  else
    to.emplace_back(field.name, value);
}
void append_field(Fields& to, const Field& field, const std::string& value) { to.emplace_back(field.name, value); }
void append_field(Fields& to, const Field& field, const std::vector<int>& values) {
  to.emplace_back(field.name, fmt::format("{}", fmt::join(values, " ")));
}
void append_field(Fields& to, const Field& field, std::vector<std::int64_t> bins) {
  while (!bins.empty() && bins.back() == 0) bins.pop_back();
  to.emplace_back(field.name, fmt::format("{}", fmt::join(bins, " ")));
}

void read_field(const Record& from, const Field& field, std::int64_t& value) {
  if (from.find(field.name) != nullptr) value = from.integer(field.name) - (field.is_from_one ? 1 : 0);
}
void read_field(const Record& from, const Field& field, double& value) {
  if (from.find(field.name) != nullptr) value = from.real(field.name);
}
void read_field(const Record& from, const Field& field, std::optional<double>& value) {
  if (from.find(field.name) != nullptr) value = from.real(field.name);
}
void read_field(const Record& from, const Field& field, bool& value) {
  const Value* found = from.find(field.name);
  if (found == nullptr) return;
  if (has_words(field)) {
    value = from.text(field.name) == field.words[1];
    return;
  }
  const auto* truth = std::get_if<bool>(found);
  if (truth == nullptr) throw Error{data_loss, "field '{}' of a record '{}' of the journal is no truth value", field.name, from.type};
  value = *truth;
}
void read_field(const Record& from, const Field& field, std::string& value) {
  if (from.find(field.name) != nullptr) value = from.text(field.name);
}
void read_field(const Record& from, const Field& field, std::vector<int>& values) {
  if (from.find(field.name) != nullptr) values = numbers_of<int>(from.text(field.name));
}
void read_field(const Record& from, const Field& field, std::vector<std::int64_t>& values) {
  if (from.find(field.name) != nullptr) values = numbers_of<std::int64_t>(from.text(field.name));
}
void read_field(const Record& from, const Field& field, int& value) { read_whole(from, field, value); }
void read_field(const Record& from, const Field& field, std::uint64_t& value) { read_whole(from, field, value); }

}  // namespace trireme::observe
