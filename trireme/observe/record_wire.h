// SPDX-License-Identifier: Apache-2.0
// Described records as messages, and back.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/observe/records/field.h"
#include "trireme/wire/measurements.pb.h"

namespace trireme::observe {

// Values of records, one after another.
class RecordWriter {
 public:
  RecordWriter(wire::Measurements& to, std::uint32_t description) : to_(to) { to_.set_description(description); }
  void begin_record();

  void operator()(const Field& field, const std::int64_t& value);
  void operator()(const Field& field, const double& value);
  void operator()(const Field& field, const std::optional<double>& value);
  void operator()(const Field& field, const std::string& value);
  void operator()(const Field& field, const std::vector<std::int64_t>& values);
  void operator()(const Field& field, const std::vector<int>& values);
  void operator()(const Field& field, const std::uint64_t& value) { (*this)(field, static_cast<std::int64_t>(value)); }
  void operator()(const Field& field, const int& value) { (*this)(field, std::int64_t{value}); }
  void operator()(const Field& field, const bool& value) { (*this)(field, std::int64_t{value}); }

 private:
  bool mark(bool is_set);  // the next field as present or not
  void add(const Field& field, double value);

  wire::Measurements& to_;
  int field_ = 0;
};

// Takes them in the same order. data_loss if there are fewer or more than described, or one does not fit.
class RecordReader {
 public:
  RecordReader(const wire::Measurements& from, std::uint32_t description);
  bool next_record();  // false after the last one

  void operator()(const Field& field, std::int64_t& value);
  void operator()(const Field& field, double& value);
  void operator()(const Field& field, std::optional<double>& value);
  void operator()(const Field& field, std::string& value);
  void operator()(const Field& field, std::vector<std::int64_t>& values);
  void operator()(const Field& field, std::vector<int>& values);
  void operator()(const Field& field, std::uint64_t& value);
  void operator()(const Field& field, int& value);
  void operator()(const Field& field, bool& value);

 private:
  bool is_next_set() { return (from_.present(record_) >> field_++ & 1) != 0; }
  std::int64_t whole();
  double real(const Field& field);
  std::size_t length();

  const wire::Measurements& from_;
  int record_ = -1, field_ = 0;
  int whole_ = 0, real_ = 0, single_ = 0, text_ = 0;  // read so far
};

// Of names and types: two programs that describe a record differently don't read each other's.
class Fingerprint {
 public:
  template <class Value>
  void operator()(const Field& field, const Value& value) {
    add(field.name);
    add(type_of(value));
    add(field.digits == 0 ? "" : "single");
  }
  std::uint32_t value() const { return value_; }

 private:
  void add(std::string_view text);
  static std::string_view type_of(const std::string&) { return "text"; }
  static std::string_view type_of(const double&) { return "real"; }
  static std::string_view type_of(const std::optional<double>&) { return "optional"; }
  static std::string_view type_of(const std::vector<std::int64_t>&) { return "list"; }
  static std::string_view type_of(const std::vector<int>&) { return "list"; }
  static std::string_view type_of(const std::int64_t&) { return "whole"; }
  static std::string_view type_of(const std::uint64_t&) { return "whole"; }
  static std::string_view type_of(const int&) { return "whole"; }
  static std::string_view type_of(const bool&) { return "whole"; }

  std::uint32_t value_ = 2166136261;  // FNV-1a
};

template <class R>
std::uint32_t fingerprint_of() {
  static const std::uint32_t kFingerprint = [] {
    const R record;
    Fingerprint fingerprint;
    describe(record, fingerprint);
    return fingerprint.value();
  }();
  return kFingerprint;
}

template <class R>
void write_records(wire::Measurements& to, const std::vector<R>& records) {
  RecordWriter writer(to, fingerprint_of<R>());
  for (const R& record : records) {
    writer.begin_record();
    describe(record, writer);
  }
}

template <class R>
std::vector<R> read_records(const wire::Measurements& from) {
  std::vector<R> records;
  RecordReader reader(from, fingerprint_of<R>());
  while (reader.next_record()) describe(records.emplace_back(), reader);
  return records;
}

template <class R>
void write_record(wire::Measurements& to, const R& record) {
  RecordWriter writer(to, fingerprint_of<R>());
  writer.begin_record();
  describe(record, writer);
}

// data_loss unless it is exactly one.
void check_is_single(const wire::Measurements& from);

template <class R>
R read_record(const wire::Measurements& from) {
  check_is_single(from);
  return std::move(read_records<R>(from).front());
}

template <class R>
std::string pack_record(const R& record) {
  wire::Measurements out;
  write_record(out, record);
  return out.SerializeAsString();
}

wire::Measurements parse_measurements(const std::string& bytes);  // data_loss for bytes that are none

template <class R>
R unpack_record(const std::string& bytes) {
  return read_record<R>(parse_measurements(bytes));
}

}  // namespace trireme::observe
