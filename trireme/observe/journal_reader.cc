// SPDX-License-Identifier: Apache-2.0
// Parses JSON lines into records, and says where a damaged one stands.
#include "trireme/observe/journal_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/observe/journal_version.h"

namespace trireme::observe {
namespace {

Value value_of(const std::string& name, const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return json.get<double>();
  if (!json.is_number_integer()) throw Error{data_loss, "field '{}' is a list or an object", name};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    throw Error{data_loss, "field '{}' is beyond 63 bits", name};
  return json.get<std::int64_t>();
}

Record record_of(const Json& json) {
  if (!json.is_object()) throw Error{data_loss, "no object"};
  Record record;
  bool has_type = false, has_time = false;
  for (const auto& [name, value] : json.items()) {
    if (name == "type" && value.is_string()) {
      record.type = value.get<std::string>();
      has_type = true;
    } else if (name == "time" && value.is_number()) {
      record.time = value.get<double>();
      has_time = true;
    } else {
      record.fields.emplace_back(name, value_of(name, value));
    }
  }
  if (!has_type || !has_time) throw Error{data_loss, "no {}", has_type ? "time" : "type"};
  return record;
}

const Value& field_of(const Record& record, std::string_view name) {
  const Value* value = record.find(name);
  if (value == nullptr) throw Error{data_loss, "a record '{}' of the journal has no field '{}'", record.type, name};
  return *value;
}

[[noreturn]] void wrong_type(const Record& record, std::string_view name, std::string_view wanted) {
  throw Error{data_loss, "field '{}' of a record '{}' of the journal is no {}", name, record.type, wanted};
}

void upgrade_record(JournalUpgrade& upgrade, Record& record, const std::filesystem::path& path) {
  try {
    upgrade.apply(record);
  } catch (const Error& error) {  // thrown again, with the file
    throw Error{error.code(), "{}: {}", path.string(), error.what()};
  }
}

// Without its end; no more than a byte too much of a line that is too long. False at the end of the file.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& bytes = *in.rdbuf();
  using Traits = std::istream::traits_type;
  int byte = bytes.sbumpc();
  if (Traits::eq_int_type(byte, Traits::eof())) return false;
  while (!Traits::eq_int_type(byte, Traits::eof()) && byte != '\n' && line.size() <= kMaxLineBytes) {
    line += Traits::to_char_type(byte);
    byte = bytes.sbumpc();
  }
  return true;
}

}  // namespace

std::optional<Record> parse_record(std::string_view line) {
  while (line.ends_with('\0')) line.remove_suffix(1);  // a power failure can leave a file longer than what was written
  if (line.empty()) return std::nullopt;
  try {
    return record_of(parse_json(line));
  } catch (const Json::parse_error& error) {  // a foreign exception becomes an Error, or a line that was cut
    if (error.byte > line.size() && line.front() == '{') return std::nullopt;  // the end came too early
    throw Error{data_loss, "no JSON at its character {}", error.byte};
  }
}

const Value* Record::find(std::string_view field) const {
  for (const auto& [name, value] : fields) {
    if (name == field) return &value;
  }
  return nullptr;
}

std::int64_t Record::integer(std::string_view field) const {
  if (const auto* number = std::get_if<std::int64_t>(&field_of(*this, field))) return *number;
  wrong_type(*this, field, "whole number");
}

double Record::real(std::string_view field) const {
  const Value& value = field_of(*this, field);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  wrong_type(*this, field, "number");
}

const std::string& Record::text(std::string_view field) const {
  if (const auto* content = std::get_if<std::string>(&field_of(*this, field))) return *content;
  wrong_type(*this, field, "text");
}

std::int64_t for_each_record(const std::filesystem::path& path, const std::function<void(const Record&)>& take) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_system_error(errno, fmt::format("read {}", path.string()));
  std::int64_t number = 0, cut = 0;
  JournalUpgrade upgrade;
  for (std::string line; next_line(in, line);) {
    ++number;
    std::optional<Record> record;
    try {
      if (line.size() > kMaxLineBytes) throw Error{data_loss, "it is longer than {} bytes", kMaxLineBytes};
      record = parse_record(line);
    } catch (const Error& error) {  // thrown again, with file and line
      throw Error{data_loss, "{}:{}: not a record of a journal: {}", path.string(), number, error.what()};
    }
    if (!record) {
      ++cut;
      continue;
    }
    upgrade_record(upgrade, *record, path);
    take(*record);
  }
  if (in.bad()) throw_system_error(errno, fmt::format("read {}", path.string()));
  return cut;
}

std::vector<Record> read_journal(const std::filesystem::path& path, std::int64_t* cut_lines) {
  std::vector<Record> records;
  const std::int64_t cut = for_each_record(path, [&](const Record& record) { records.push_back(record); });
  if (cut_lines != nullptr) *cut_lines = cut;
  return records;
}

}  // namespace trireme::observe
