// SPDX-License-Identifier: Apache-2.0
// numpy's format, versions 1 to 3: a header that is a Python dictionary as text, then the values.
#include "trireme/data/formats/npy_array.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/data/formats/byte_stream.h"

namespace trireme::data {
namespace {

static_assert(std::endian::native == std::endian::little, "values are swapped where a file is big-endian");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxValueBytes = 1 << 16;  // of a text
constexpr std::size_t kMaxRank = 32;             // numpy's

// Takes parts off the front of a Python literal.
class Literal {
 public:
  Literal(std::string_view text, std::string_view place) : rest_(text), place_(place) {}

  bool accept(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
  }
  std::string_view quoted() {
    skip_spaces();
    const char quote = rest_.empty() ? ' ' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail("a quoted text");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("True or False");
  }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> out;
    for (expect('('); !accept(')');) {
      std::int64_t number = 0;
      skip_spaces();
      const auto [end, fault] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (fault != std::errc{} || number < 0 || out.size() == kMaxRank) fail("an extent");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      out.push_back(number);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }
  bool begins_with(char c) {
    skip_spaces();
    return rest_.starts_with(c);
  }

 private:
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  [[noreturn]] void fail(const std::string& expected) const {
    throw Error{data_loss, "{}: expected {} in the header of the array, found '{}'; damaged", place_, expected, rest_.substr(0, 20)};
  }

  std::string_view rest_;
  std::string_view place_;
};

bool is_known(const NpyType& type) {
  const auto one_of = [&](std::initializer_list<std::size_t> sizes) { return std::ranges::find(sizes, type.bytes) != sizes.end(); };
  switch (type.kind) {
    case 'b':
      return type.bytes == 1;
    case 'i':
    case 'u':
      return one_of({1, 2, 4, 8});
    case 'f':
      return one_of({2, 4, 8});
    case 'S':
      return type.bytes >= 1 && type.bytes <= kMaxValueBytes;
    case 'U':
      return type.bytes >= 4 && type.bytes <= kMaxValueBytes;
    default:
      return false;
  }
}

NpyType type_of(std::string_view text, std::string_view place) {
  NpyType type{.kind = text.size() > 1 ? text[1] : '?', .bytes = 0, .swapped = text.starts_with('>')};
  const std::string_view digits = text.substr(std::min<std::size_t>(2, text.size()));
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), type.bytes);
  const bool whole = fault == std::errc{} && end == digits.data() + digits.size() && type.bytes <= kMaxValueBytes;
  if (whole && type.kind == 'U') type.bytes *= 4;
  if (type.kind == 'O')
    throw Error{unimplemented, "{}: an array of Python objects; save numbers or texts: array.astype('float32'), or array.astype(str)",
                place};
  if (!whole || !is_known(type))
    throw Error{unimplemented, "{}: values of type '{}'; booleans, integers, floats of 16, 32 and 64 bits, and texts can be read", place,
                text};
  return type;
}

// The product of extents may exceed what 64 bits hold.
void check_size(const NpyHeader& header, std::string_view place) {
  std::uint64_t bytes = header.type.bytes;
  for (const std::int64_t extent : header.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      throw Error{data_loss, "{}: an array of {} is more than a file can hold; damaged", place, fmt::join(header.shape, "x")};
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) value = mantissa == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -value : value;
}

template <class Number>
Number value_at(const std::byte* at) {
  Number value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

void swap_bytes(std::span<std::byte> values, std::size_t size) {
  for (std::size_t at = 0; at + size <= values.size(); at += size)
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(at), values.begin() + static_cast<std::ptrdiff_t>(at + size));
}

// Fortran order has the first axis innermost. One pass over the output; the place in the input is counted along.
std::vector<std::byte> in_c_order(std::span<const std::byte> values, const std::vector<std::int64_t>& shape, std::size_t size) {
  std::vector<std::size_t> strides(shape.size()), index(shape.size());
  std::size_t stride = size;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<std::size_t>(shape[axis]);
  }
  std::vector<std::byte> out(values.size());
  std::size_t from = 0;
  for (std::size_t to = 0; to < out.size(); to += size) {
    std::memcpy(&out[to], &values[from], size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      from -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return out;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto add = [&](std::uint32_t lead, int shift) {
    out += static_cast<char>(lead | code >> shift);
    for (shift -= 6; shift >= 0; shift -= 6) out += static_cast<char>(0x80 | (code >> shift & 0x3f));
  };
  if (code > 0x10ffff) code = 0xfffd;
  if (code < 0x80)
    add(0, 0);
  else if (code < 0x800)
    add(0xc0, 6);
  else if (code < 0x10000)
    add(0xe0, 12);
  else
    add(0xf0, 18);
}

}  // namespace

std::string NpyType::title() const {
  if (is_text()) return "text";
  if (kind == 'b') return "bool";
  return fmt::format("{}{}", kind == 'f' ? "float" : kind == 'i' ? "int" : "uint", 8 * bytes);
}

std::uint64_t NpyHeader::values() const {
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::uint64_t>(extent);
  return count;
}

std::string NpyHeader::title() const {
  return fmt::format("{}, {}", type.title(), shape.empty() ? "one value" : fmt::format("{}", fmt::join(shape, "x")));
}

std::string NpyArray::title() const { return NpyHeader{.type = type, .shape = shape}.title(); }

NpyHeader read_npy_header(std::span<const std::byte> file, std::string_view place) {
  const std::string_view bytes = as_text(file);
  if (!bytes.starts_with(kMagic) || bytes.size() < 10)
    throw Error{data_loss, "{}: expected an array of numpy (\\x93NUMPY at byte 0), found {} other bytes", place, bytes.size()};
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(file[at]); };
  const std::size_t version = byte(6), length_bytes = version == 1 ? 2 : 4, begin = 8 + length_bytes;
  if (version < 1 || version > 3) throw Error{unimplemented, "{}: version {} of numpy's format; 1 to 3 can be read", place, version};
  if (bytes.size() < begin) throw Error{data_loss, "{}: expected a header, found {} bytes; the file is cut off", place, bytes.size()};
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | byte(8 + i);
  if (length > bytes.size() - begin)
    throw Error{data_loss,           "{}: expected a header of {} bytes at byte {}, found {}; the file is cut off", place, length, begin,
                bytes.size() - begin};
  NpyHeader header{.data = begin + length};
  Literal text(bytes.substr(begin, length), place);
  bool has_type = false, has_shape = false;
  for (text.expect('{'); !text.accept('}');) {
    const std::string_view key = text.quoted();
    text.expect(':');
    if (key == "descr" && text.begins_with('['))
      throw Error{unimplemented, "{}: a table of named columns; save each column, or all as one array of numbers", place};
    if (key == "descr") {
      header.type = type_of(text.quoted(), place);
      has_type = true;
    } else if (key == "fortran_order") {
      header.fortran_order = text.boolean();
    } else if (key == "shape") {
      header.shape = text.integers();
      has_shape = true;
    } else {
      throw Error{data_loss, "{}: the header of the array has an unknown key '{}'; damaged", place, key};
    }
    text.accept(',');
  }
  if (!has_type || !has_shape) throw Error{data_loss, "{}: the header of the array lacks type or shape; damaged", place};
  check_size(header, place);
  return header;
}

double NpyArray::number(std::int64_t index) const {
  const std::byte* at = values.data() + static_cast<std::size_t>(index) * type.bytes;
  switch (type.kind) {
    case 'f':
      return type.bytes == 2 ? half(value_at<std::uint16_t>(at)) : type.bytes == 4 ? value_at<float>(at) : value_at<double>(at);
    case 'i':
      if (type.bytes == 8) return static_cast<double>(value_at<std::int64_t>(at));
      return type.bytes == 1 ? value_at<std::int8_t>(at) : type.bytes == 2 ? value_at<std::int16_t>(at) : value_at<std::int32_t>(at);
    default:
      if (type.bytes == 8) return static_cast<double>(value_at<std::uint64_t>(at));
      return type.bytes == 1 ? value_at<std::uint8_t>(at) : type.bytes == 2 ? value_at<std::uint16_t>(at) : value_at<std::uint32_t>(at);
  }
}

std::string NpyArray::text(std::int64_t index) const {
  const std::byte* at = values.data() + static_cast<std::size_t>(index) * type.bytes;
  std::string out;
  if (type.kind == 'S') {
    out = as_text(std::span(at, type.bytes));
    return out.substr(0, out.find_last_not_of('\0') + 1);
  }
  for (std::size_t i = 0; i < type.bytes; i += 4)
    if (const auto code = value_at<std::uint32_t>(at + i); code != 0) append_utf8(code, out);
  return out;
}

NpyArray npy_array(std::vector<std::byte> file, std::string name, std::string place) {
  const NpyHeader header = read_npy_header(file, place);
  const std::uint64_t expected = header.values() * header.type.bytes, found = file.size() - header.data;
  if (expected != found)
    throw Error{data_loss,      "{}: expected {} bytes of values ({}) at byte {}, found {}{}",
                place,          expected,
                header.title(), header.data,
                found,          found < expected ? "; the file is cut off" : ""};
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header.data));
  if (header.type.swapped && header.type.kind != 'S') swap_bytes(file, header.type.kind == 'U' ? 4 : header.type.bytes);
  if (header.fortran_order && header.shape.size() > 1) file = in_c_order(file, header.shape, header.type.bytes);
  return {.name = std::move(name), .place = std::move(place), .type = header.type, .shape = header.shape, .values = std::move(file)};
}

std::string npy_file(std::string_view type, const std::vector<std::int64_t>& shape, std::string_view values, bool fortran_order) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({},), }}", type, fortran_order ? "True" : "False",
                                   fmt::join(shape, ", "));
  header.resize((header.size() + 10) / 64 * 64 + 64 - 11, ' ');
  header += '\n';
  return std::string(kMagic) + std::string("\x01\0", 2) + static_cast<char>(header.size() & 0xff) + static_cast<char>(header.size() >> 8) +
         header + std::string(values);
}

}  // namespace trireme::data
