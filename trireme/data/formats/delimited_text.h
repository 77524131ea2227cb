// SPDX-License-Identifier: Apache-2.0
// Rows of a text separated by commas, semicolons, tabs, bars or spaces, with quoted fields as RFC 4180 has them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

class DelimitedText {
 public:
  // `text` must outlive it; `name` is the file's for messages. A byte order mark, empty lines and lines that begin
  // with # are passed over. Several spaces separate like one.
  DelimitedText(std::string_view text, std::string name, char separator);

  // False at the end. Fields are good until the next call; a field's quotes are gone.
  bool next_row(std::vector<std::string_view>& fields);

  // "FILE:LINE" of the row's first line; lines count from 1.
  std::string place() const;

  // Which of comma, semicolon, tab and bar stands most often in the first line, outside quotes; if none does, a space if there is one,
  // otherwise a comma.
  static char guess_separator(std::string_view text);

 private:
  std::string_view next_field();
  std::string_view quoted_field();
  bool take_line_end();
  void pass_over_lines();
  void pass_over_spaces();

  std::string_view rest_;
  std::string name_;
  char separator_;
  std::int64_t line_ = 1;             // where rest_ begins
  std::int64_t row_line_ = 0;         // where the last row began
  std::deque<std::string> unquoted_;  // fields that had doubled quotes
};

}  // namespace trireme::data
