// SPDX-License-Identifier: Apache-2.0
// Walks once over the text; only fields with doubled quotes are copied.
#include "trireme/data/formats/delimited_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr char kQuote = '"';

// Whether the first line of `text` has nothing but spaces, or is a comment.
bool has_no_row(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with('#') || line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::string_view first_row(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty() && has_no_row(text)) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const std::string_view row = text.substr(0, text.find('\n'));
  return row.substr(0, row.find_last_not_of(" \r") + 1);
}

}  // namespace

DelimitedText::DelimitedText(std::string_view text, std::string name, char separator)
    : rest_(text), name_(std::move(name)), separator_(separator) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  while (!rest_.empty() && (rest_.back() == '\n' || rest_.back() == '\r')) rest_.remove_suffix(1);
}

bool DelimitedText::next_row(std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  pass_over_lines();
  if (rest_.empty()) return false;
  row_line_ = line_;
  pass_over_spaces();
  fields.push_back(next_field());
  while (!take_line_end()) {
    rest_.remove_prefix(1);  // the separator
    pass_over_spaces();
    if (separator_ == ' ' && take_line_end()) break;
    fields.push_back(next_field());
  }
  return true;
}

std::string DelimitedText::place() const { return fmt::format("{}:{}", name_, row_line_); }

char DelimitedText::guess_separator(std::string_view text) {
  static constexpr std::array kSeparators{',', ';', '\t', '|'};
  std::array<std::int64_t, kSeparators.size()> counts{};
  bool quoted = false;
  bool spaces = false;
  for (const char c : first_row(text)) {
    if (c == kQuote) quoted = !quoted;
    spaces = spaces || (c == ' ' && !quoted);
    for (std::size_t i = 0; i < kSeparators.size() && !quoted; ++i) counts[i] += c == kSeparators[i] ? 1 : 0;
  }
  if (spaces && std::ranges::count(counts, 0) == std::ssize(counts)) return ' ';
  return kSeparators[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
}

// Leaves rest_ at the separator, the line's end or the text's end.
std::string_view DelimitedText::next_field() {
  if (!rest_.empty() && rest_.front() == kQuote) return quoted_field();
  const std::array stops{separator_, '\n'};
  const std::size_t size = std::min(rest_.find_first_of(std::string_view(stops.data(), stops.size())), rest_.size());
  const std::string_view field = rest_.substr(0, size);
  rest_.remove_prefix(size);
  const bool carriage_return = field.ends_with('\r') && (rest_.empty() || rest_.front() == '\n');
  return field.substr(0, field.size() - (carriage_return ? 1 : 0));
}

std::string_view DelimitedText::quoted_field() {
  std::string doubled;
  bool copied = false;
  rest_.remove_prefix(1);
  for (std::size_t end = rest_.find(kQuote); end != std::string_view::npos; end = rest_.find(kQuote)) {
    const std::string_view field = rest_.substr(0, end);
    line_ += std::ranges::count(field, '\n');
    rest_.remove_prefix(end + 1);
    if (rest_.starts_with(kQuote)) {
      doubled.append(field).push_back(kQuote);
      copied = true;
      rest_.remove_prefix(1);
      continue;
    }
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() != separator_ && rest_.front() != '\n')
      throw Error{data_loss, "{}: expected a separator after a closing quote, found '{}'", place(), rest_.front()};
    return copied ? unquoted_.emplace_back(doubled.append(field)) : field;
  }
  throw Error{data_loss, "{}: expected a closing quote, found the end of the file", place()};
}

void DelimitedText::pass_over_lines() {
  while (!rest_.empty() && has_no_row(rest_)) {
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size() - 1) + 1);
    ++line_;
  }
}

void DelimitedText::pass_over_spaces() {
  while (separator_ == ' ' && rest_.starts_with(' ')) rest_.remove_prefix(1);
}

bool DelimitedText::take_line_end() {
  if (rest_.empty()) return true;
  if (rest_.front() != '\n') return false;
  rest_.remove_prefix(1);
  ++line_;
  return true;
}

}  // namespace trireme::data
