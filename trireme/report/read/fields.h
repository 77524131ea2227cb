// SPDX-License-Identifier: Apache-2.0
// Fields of records that may be missing: a run of another version has more or fewer of them.
#pragma once

#include <string>
#include <string_view>

#include "trireme/observe/journal_reader.h"
#include "trireme/report/document/run_document.h"

namespace trireme::report {

inline double number(const observe::Record& record, std::string_view field) {
  const observe::Value* value = record.find(field);
  if (value == nullptr) return kUnknown;
  if (const auto* real = std::get_if<double>(value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  return kUnknown;
}

inline double number_or(const observe::Record& record, std::string_view field, double otherwise) {
  const double value = number(record, field);
  return value == value ? value : otherwise;
}

inline std::string word(const observe::Record& record, std::string_view field) {
  const observe::Value* value = record.find(field);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? "" : *text;
}

inline bool truth(const observe::Record& record, std::string_view field) {
  const observe::Value* value = record.find(field);
  const auto* is_so = value == nullptr ? nullptr : std::get_if<bool>(value);
  return is_so != nullptr && *is_so;
}

}  // namespace trireme::report
