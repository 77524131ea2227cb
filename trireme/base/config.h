// SPDX-License-Identifier: Apache-2.0
// A parsed configuration: a tree of tables, lists and values that know where they stand in the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trireme {

class Config {
 public:
  using Table = std::vector<std::pair<std::string, Config>>;  // in the file's order
  using List = std::vector<Config>;

  static Config parse_toml(std::string_view text, std::string_view name);
  static Config load_toml(const std::filesystem::path& path);

  Config() : value_(Table{}) {}
  template <class T>
  Config(T value, std::string origin) : value_(std::move(value)), origin_(std::move(origin)) {}

  bool is_table() const { return std::holds_alternative<Table>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }

  const Table& table() const;  // each throws invalid_argument with the origin if it is something else
  const List& list() const;
  const std::string& text() const;
  std::int64_t integer() const;
  double real() const;  // accepts an integer too
  bool boolean() const;

  const Config* find(std::string_view key) const;  // of a table; null if absent
  const Config& at(std::string_view key) const;    // throws, naming the key and the place

  // Sets a dotted key ("train.epochs") from a text as TOML would read it; a bare word is taken as text.
  void set(std::string_view dotted_key, std::string_view text, std::string origin);

  // Sets a key of this table.
  void put(std::string_view key, Config value);
  void erase(std::string_view key);  // likewise; nothing if it has none
  // Calls what stands at a dotted key otherwise; nothing happens if nothing stands there.
  void rename(std::string_view dotted_key, std::string_view name);

  // "job.toml:12" or "--set"
  const std::string& origin() const { return origin_; }
  // On one line, as it could stand behind "key = "; the order of keys is kept.
  std::string to_toml() const;
  // "a table", "the text \"abc\"", "the number 3"
  std::string describe_value() const;

 private:
  [[noreturn]] void wrong_type(std::string_view wanted) const;

  std::variant<Table, List, std::string, std::int64_t, double, bool> value_;
  std::string origin_;
};

std::string toml_number(double number);
// `text` as a TOML string, quotes included.
std::string toml_quoted(std::string_view text);

}  // namespace trireme
