// SPDX-License-Identifier: Apache-2.0
// Lines of `key = value  # origin` under [tables].
#include "trireme/report/read/config_rows.h"

#include <fmt/format.h>

#include "trireme/base/files.h"

namespace trireme::report {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Where the comment begins that is not inside a text.
std::size_t comment_of(std::string_view line) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\')
      ++i;
    else if (quote != '\0' && line[i] == quote)
      quote = '\0';
    else if (quote == '\0' && (line[i] == '"' || line[i] == '\''))
      quote = line[i];
    else if (quote == '\0' && line[i] == '#')
      return i;
  }
  return line.size();
}

std::string unquoted(std::string_view value) {
  const bool is_text = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
  return std::string(is_text ? value.substr(1, value.size() - 2) : value);
}

}  // namespace

std::vector<ConfigRow> parse_config_rows(std::string_view text) {
  std::vector<ConfigRow> rows;
  std::string table;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t comment = comment_of(line);
    const std::string_view content = trimmed(line.substr(0, comment));
    if (content.starts_with('[')) {
      table = content.substr(content.find_first_not_of('['));
      table = table.substr(0, table.find(']'));
      continue;
    }
    const auto equals = content.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = unquoted(trimmed(content.substr(0, equals)));
    rows.push_back({.key = table.empty() ? key : fmt::format("{}.{}", table, key),
                    .value = unquoted(trimmed(content.substr(equals + 1))),
                    .origin = std::string(comment < line.size() ? trimmed(line.substr(comment + 1)) : std::string_view{})});
  }
  return rows;
}

std::vector<ConfigRow> read_config_rows(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  return parse_config_rows(read_file(path));
}

}  // namespace trireme::report
