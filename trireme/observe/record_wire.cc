// SPDX-License-Identifier: Apache-2.0
// Values of described fields, by type, and a bit for each that is not 0.
#include "trireme/observe/record_wire.h"

#include <bit>

#include "trireme/base/error.h"

namespace trireme::observe {
namespace {

constexpr int kMaxFields = 64;  // bits of `present`

bool is_single(const Field& field) { return field.digits > 0; }

[[noreturn]] void too_short() { throw Error{data_loss, "a message of measurements ends within a record"}; }

}  // namespace

void RecordWriter::begin_record() {
  to_.add_present(0);
  field_ = 0;
}

bool RecordWriter::mark(bool is_set) {
  ensure(field_ < kMaxFields, "a record has at most 64 fields on the wire");
  if (is_set) to_.set_present(to_.present_size() - 1, to_.present(to_.present_size() - 1) | std::uint64_t{1} << field_);
  ++field_;
  return is_set;
}

void RecordWriter::add(const Field& field, double value) {
  if (is_single(field))
    to_.add_single(static_cast<float>(value));
  else
    to_.add_real(value);
}

void RecordWriter::operator()(const Field&, const std::int64_t& value) {
  if (mark(value != 0)) to_.add_whole(value);
}

// Also -0.0 comes out as it went in.
void RecordWriter::operator()(const Field& field, const double& value) {
  if (mark(std::bit_cast<std::uint64_t>(value) != 0)) add(field, value);
}

void RecordWriter::operator()(const Field& field, const std::optional<double>& value) {
  if (mark(value.has_value())) add(field, *value);
}

void RecordWriter::operator()(const Field&, const std::string& value) {
  if (mark(!value.empty())) to_.add_text(value);
}

void RecordWriter::operator()(const Field&, const std::vector<std::int64_t>& values) {
  if (!mark(!values.empty())) return;
  to_.add_whole(static_cast<std::int64_t>(values.size()));
  to_.mutable_whole()->Add(values.begin(), values.end());
}

void RecordWriter::operator()(const Field&, const std::vector<int>& values) {
  if (!mark(!values.empty())) return;
  to_.add_whole(static_cast<std::int64_t>(values.size()));
  to_.mutable_whole()->Add(values.begin(), values.end());
}

RecordReader::RecordReader(const wire::Measurements& from, std::uint32_t description) : from_(from) {
  if (from_.description() != description)
    throw Error{data_loss, "measurements of another kind or version: their description has fingerprint {:08x}, {:08x} is read here",
                from_.description(), description};
}

bool RecordReader::next_record() {
  field_ = 0;
  if (++record_ < from_.present_size()) return true;
  if (whole_ != from_.whole_size() || real_ != from_.real_size() || single_ != from_.single_size() || text_ != from_.text_size())
    throw Error{data_loss, "a message of measurements has more values than its {} records", from_.present_size()};
  return false;
}

std::int64_t RecordReader::whole() {
  if (whole_ >= from_.whole_size()) too_short();
  return from_.whole(whole_++);
}

double RecordReader::real(const Field& field) {
  if (is_single(field) ? single_ >= from_.single_size() : real_ >= from_.real_size()) too_short();
  return is_single(field) ? from_.single(single_++) : from_.real(real_++);
}

std::size_t RecordReader::length() {
  const std::int64_t length = whole();
  if (length < 0 || length > from_.whole_size() - whole_) too_short();
  return static_cast<std::size_t>(length);
}

void RecordReader::operator()(const Field&, std::int64_t& value) { value = is_next_set() ? whole() : 0; }
void RecordReader::operator()(const Field& field, double& value) { value = is_next_set() ? real(field) : 0; }

void RecordReader::operator()(const Field& field, std::optional<double>& value) {
  value.reset();
  if (is_next_set()) value = real(field);
}

void RecordReader::operator()(const Field&, std::string& value) {
  value.clear();
  if (!is_next_set()) return;
  if (text_ >= from_.text_size()) too_short();
  value = from_.text(text_++);
}

void RecordReader::operator()(const Field&, std::vector<std::int64_t>& values) {
  values.resize(is_next_set() ? length() : 0);
  for (std::int64_t& value : values) value = whole();
}

void RecordReader::operator()(const Field& field, std::vector<int>& values) {
  std::vector<std::int64_t> wide;
  (*this)(field, wide);
  values.clear();
  for (const std::int64_t value : wide) {
    if (value != static_cast<int>(value)) throw Error{data_loss, "{} has {}, which is too large", field.name, value};
    values.push_back(static_cast<int>(value));
  }
}

void RecordReader::operator()(const Field&, std::uint64_t& value) { value = is_next_set() ? static_cast<std::uint64_t>(whole()) : 0; }

void RecordReader::operator()(const Field& field, int& value) {
  std::int64_t wide = 0;
  (*this)(field, wide);
  value = static_cast<int>(wide);
  if (value != wide) throw Error{data_loss, "{} is {}, which is too large", field.name, wide};
}

void RecordReader::operator()(const Field& field, bool& value) {
  std::int64_t wide = 0;
  (*this)(field, wide);
  value = wide != 0;
}

void Fingerprint::add(std::string_view text) {
  for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 16777619;
  value_ = (value_ ^ 0xffU) * 16777619;  // so that "ab", "c" is not "a", "bc"
}

void check_is_single(const wire::Measurements& from) {
  if (from.present_size() != 1) throw Error{data_loss, "a message has {} records, not one", from.present_size()};
}

wire::Measurements parse_measurements(const std::string& bytes) {
  wire::Measurements message;
  if (!message.ParseFromString(bytes)) throw Error{data_loss, "{} bytes that are no {}", bytes.size(), message.GetTypeName()};
  return message;
}

}  // namespace trireme::observe
