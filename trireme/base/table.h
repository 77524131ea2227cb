// SPDX-License-Identifier: Apache-2.0
// Aligned text tables for the terminal.
#pragma once

#include <string>
#include <vector>

namespace trireme {

class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<std::string> cells);
  std::string to_string() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string with_thousands(long long number);  // 1199882 -> "1,199,882"
std::string human_bytes(double bytes);         // 4799528 -> "4.6 MiB"
std::string human_count(double count);         // 23900000 -> "23.9 M"

}  // namespace trireme
