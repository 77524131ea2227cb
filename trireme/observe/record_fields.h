// SPDX-License-Identifier: Apache-2.0
// Described records as fields of a journal, and back; several of them as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "trireme/observe/journal_reader.h"
#include "trireme/observe/records/field.h"

namespace trireme::observe {

void append_field(Fields& to, const Field& field, const std::int64_t& value);
void append_field(Fields& to, const Field& field, const double& value);
void append_field(Fields& to, const Field& field, const std::optional<double>& value);
void append_field(Fields& to, const Field& field, const bool& value);
void append_field(Fields& to, const Field& field, const std::string& value);
void append_field(Fields& to, const Field& field, const std::vector<int>& values);  // as one text
void append_field(Fields& to, const Field& field, std::vector<std::int64_t> bins);  // the same, without the empty ones at the end
inline void append_field(Fields& to, const Field& field, const int& value) { append_field(to, field, std::int64_t{value}); }
inline void append_field(Fields& to, const Field& field, const std::uint64_t& value) {
  append_field(to, field, static_cast<std::int64_t>(value));
}

template <class R>
void append_fields(Fields& to, const R& record) {
  describe(record, [&](const Field& field, const auto& value) {
    if (field.is_in_files && field.is_present) append_field(to, field, value);
  });
}

// Only of those that can be combined: for a record that stands for several.
template <class R>
void append_combined_fields(Fields& to, const R& record) {
  describe(record, [&](const Field& field, const auto& value) {
    if (field.is_in_files && field.combine != Combine::none) append_field(to, field, value);
  });
}

template <class R>
Fields fields_of(const R& record) {
  Fields fields;
  append_fields(fields, record);
  return fields;
}

// Each leaves the value as it is if the field is absent; data_loss if it is something else.
void read_field(const Record& from, const Field& field, std::int64_t& value);
void read_field(const Record& from, const Field& field, double& value);
void read_field(const Record& from, const Field& field, std::optional<double>& value);
void read_field(const Record& from, const Field& field, bool& value);
void read_field(const Record& from, const Field& field, std::string& value);
void read_field(const Record& from, const Field& field, std::vector<int>& values);
void read_field(const Record& from, const Field& field, std::vector<std::int64_t>& values);
void read_field(const Record& from, const Field& field, int& value);
void read_field(const Record& from, const Field& field, std::uint64_t& value);

template <class R>
R record_of(const Record& from) {
  R record;
  describe(record, [&](const Field& field, auto& value) {
    if (field.is_in_files) read_field(from, field, value);
  });
  return record;
}

template <class Value>
void combine_values(Combine how, Value& sum, const Value& next) {
  if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
    if (how == Combine::sum) sum += next;
    if (how == Combine::max && next > sum) sum = next;
  } else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
    if (how != Combine::sum) return;
    if (sum.size() < next.size()) sum.resize(next.size());
    for (std::size_t i = 0; i < next.size(); ++i) sum[i] += next[i];
  }
}

// Adds `next` to `sum`, as its fields are combined; the others stay those of `sum`.
template <class R>
void combine(R& sum, const R& next) {
  std::vector<const void*> values;
  describe(next, [&](const Field&, const auto& value) { values.push_back(&value); });
  std::size_t i = 0;
  // The same description visits both, so that the i-th values have one type.
  describe(sum, [&](const Field& field, auto& value) {
    combine_values(field.combine, value, *static_cast<const std::remove_reference_t<decltype(value)>*>(values[i++]));
  });
}

}  // namespace trireme::observe
