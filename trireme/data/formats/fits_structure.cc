// SPDX-License-Identifier: Apache-2.0
// Headers are cards of 80 characters, the first of them in an order that the standard fixes.
#include "trireme/data/formats/fits_structure.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

constexpr std::size_t kCard = 80;
constexpr std::size_t kName = 8;
constexpr std::int64_t kMaxAxes = 16;
constexpr std::int64_t kMaxColumns = 999;  // of the standard

std::size_t whole_blocks(std::size_t bytes) { return (bytes + kFitsBlock - 1) / kFitsBlock * kFitsBlock; }

class HeaderReader {
 public:
  HeaderReader(std::string_view bytes, std::string_view name, std::size_t offset) : bytes_(bytes), name_(name), at_(offset) {}

  std::size_t at() const { return at_; }

  std::string_view next_card() {
    if (at_ + kCard > bytes_.size()) throw Error{data_loss, "{}: the file ends at byte {}, inside a header", name_, bytes_.size()};
    const std::string_view card = bytes_.substr(at_, kCard);
    at_ += kCard;
    return card;
  }

  // "BITPIX  =                    8 / 8-bit bytes"
  std::int64_t integer(const std::string& keyword, std::int64_t min, std::int64_t max) {
    const std::size_t place = at_;
    std::string_view card = next_card();
    const std::string_view whole = card;
    std::int64_t value = 0;
    if (card.starts_with(fmt::format("{:<8}= ", keyword))) {
      card.remove_prefix(std::min(card.find_first_not_of(' ', kName + 2), card.size()));
      const auto [end, fault] = std::from_chars(card.data(), card.data() + card.size(), value);
      const bool alone = end == card.data() + card.size() || *end == ' ' || *end == '/';
      if (fault == std::errc{} && alone && value >= min && value <= max) return value;
    }
    throw Error{data_loss, "{}: at byte {} expected {} with a number from {} to {}, found '{}'",
                name_,     place,
                keyword,   min,
                max,       printable(whole.substr(0, 30))};
  }

  // Passes over all other cards; true if one of them says that the table is really something compressed.
  bool find_end() {
    for (bool compressed = false;;) {
      const std::string_view card = next_card();
      if (card.find_first_not_of(' ', 3) == std::string_view::npos && card.starts_with("END")) return compressed;
      compressed = compressed || card.starts_with("ZIMAGE  ") || card.starts_with("ZTABLE  ");
    }
  }

  static std::string printable(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
    return out;
  }

 private:
  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_;
};

// The product of the axes, or limit + 1 if it is larger.
std::int64_t read_axes(HeaderReader& header, std::int64_t limit) {
  const std::int64_t axes = header.integer("NAXIS", 0, kMaxAxes);
  std::int64_t product = axes == 0 ? 0 : 1;
  for (std::int64_t axis = 1; axis <= axes; ++axis) {
    const std::int64_t extent = header.integer(fmt::format("NAXIS{}", axis), 0, INT64_MAX);
    product = extent != 0 && product > limit / extent ? limit + 1 : product * extent;
  }
  return product;
}

FitsUnit read_unit(std::string_view bytes, std::string_view name, std::size_t offset) {
  HeaderReader header(bytes, name, offset);
  FitsUnit unit{.header = static_cast<std::int64_t>(offset)};
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::string_view first = header.next_card();
  const std::string_view expected = offset == 0 ? "SIMPLE  =" : "XTENSION=";
  if (!first.starts_with(expected))
    throw Error{data_loss, "{}: at byte {} expected '{}', found '{}'", name, offset, expected, HeaderReader::printable(first.substr(0, 9))};
  unit.is_table = offset > 0 && first.starts_with("XTENSION= 'BINTABLE'");

  const std::int64_t bits = header.integer("BITPIX", unit.is_table ? 8 : -64, unit.is_table ? 8 : 64);
  std::int64_t items = read_axes(header, size);
  if (offset > 0) {
    const std::int64_t extra = header.integer("PCOUNT", 0, INT64_MAX);
    const std::int64_t groups = header.integer("GCOUNT", 1, INT64_MAX);
    items = extra > size || items + extra > size / groups ? size + 1 : (items + extra) * groups;
  }
  if (unit.is_table) header.integer("TFIELDS", 0, kMaxColumns);
  if (header.find_end()) unit.is_table = false;

  unit.data = static_cast<std::int64_t>(whole_blocks(header.at()));
  const std::int64_t room = (size - unit.data) * 8 / std::max<std::int64_t>(std::abs(bits), 1);
  if (items > room)
    throw Error{data_loss, "{}: the header at byte {} promises more data than the {} bytes that follow it", name, offset, size - unit.data};
  unit.end = unit.data + static_cast<std::int64_t>(whole_blocks(static_cast<std::size_t>(items * std::abs(bits) / 8)));
  return unit;
}

}  // namespace

std::vector<FitsUnit> check_fits_structure(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) throw Error{data_loss, "{}: the file is empty; expected a FITS file", name};
  if (!bytes.starts_with("SIMPLE  ="))
    throw Error{data_loss, "{}: at byte 0 expected 'SIMPLE  =', found '{}'; no FITS file", name,
                HeaderReader::printable(bytes.substr(0, 9))};
  if (bytes.size() % kFitsBlock != 0)
    throw Error{data_loss, "{}: the file ends at byte {}, inside a block; a FITS file has blocks of {} bytes", name, bytes.size(),
                kFitsBlock};
  std::vector<FitsUnit> units;
  for (std::size_t at = 0; at < bytes.size(); at = static_cast<std::size_t>(units.back().end)) units.push_back(read_unit(bytes, name, at));
  return units;
}

}  // namespace trireme::data
