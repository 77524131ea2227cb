// SPDX-License-Identifier: Apache-2.0
// TOML into Config; toml++ is visible only here.
#include "trireme/base/config.h"

#define TOML_EXCEPTIONS 1
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme {
namespace {

std::string place_of(const toml::node& node, std::string_view name) { return fmt::format("{}:{}", name, node.source().begin.line); }

Config convert(const toml::node& node, std::string_view name) {
  std::string place = place_of(node, name);
  if (const auto* table = node.as_table()) {
    std::vector<std::pair<toml::source_position, Config::Table::value_type>> rows;
    for (const auto& [key, child] : *table) rows.push_back({key.source().begin, {std::string(key.str()), convert(child, name)}});
    // toml++ sorts keys by name; people expect the order they wrote.
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Config::Table out;
    for (auto& row : rows) out.push_back(std::move(row.second));
    return {std::move(out), std::move(place)};
  }
  if (const auto* array = node.as_array()) {
    Config::List out;
    for (const auto& child : *array) out.push_back(convert(child, name));
    return {std::move(out), std::move(place)};
  }
  if (const auto* text = node.as_string()) return {text->get(), std::move(place)};
  if (const auto* integer = node.as_integer()) return {std::int64_t{integer->get()}, std::move(place)};
  if (const auto* real = node.as_floating_point()) return {real->get(), std::move(place)};
  if (const auto* boolean = node.as_boolean()) return {boolean->get(), std::move(place)};
  throw Error{invalid_argument, "{}: dates are not used in job files", place};
}

constexpr std::size_t kMaxBytes = 4 << 20;  // a list of a thousand machines has a tenth of it
constexpr int kMaxDots = 8;                 // in a key

// Where a text in quotes that begins at `at` ends.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at)
    if (quote == '"' && text[at] == '\\') ++at;
  return at;
}

// toml++ limits how deep values are nested, but not keys: a.a.a... makes a table for each dot, and the stack is used up on the way back.
void check_keys(std::string_view text, std::string_view name) {
  int dots = 0;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#') at = std::min(text.find('\n', at), text.size()) - 1;
    if (c == '"' || c == '\'') at = end_of_text(text, at);
    if (c == '\n') ++line;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > kMaxDots) throw Error{invalid_argument, "{}:{}: a key has more than {} dots", name, line, kMaxDots};
  }
}

}  // namespace

Config Config::parse_toml(std::string_view text, std::string_view name) {
  if (text.size() > kMaxBytes) throw Error{invalid_argument, "{}: it has {} bytes; at most {} are read", name, text.size(), kMaxBytes};
  check_keys(text, name);
  try {
    const toml::table parsed = toml::parse(text, name);
    return convert(parsed, name);
  } catch (const toml::parse_error& error) {  // a foreign exception becomes an Error
    throw Error{invalid_argument, "{}:{}: {}", name, error.source().begin.line, error.description()};
  }
}

Config Config::load_toml(const std::filesystem::path& path) {
  std::error_code unknown;  // then read_file finds words for it
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown && bytes > kMaxBytes)
    throw Error{invalid_argument, "{}: it has {} bytes; at most {} are read", path.string(), bytes, kMaxBytes};
  return parse_toml(read_file(path), path.string());
}

void Config::wrong_type(std::string_view wanted) const {
  throw Error{invalid_argument, "{}: expected {}, found {}", origin_, wanted, describe_value()};
}

const Config::Table& Config::table() const {
  if (const auto* value = std::get_if<Table>(&value_)) return *value;
  wrong_type("a table");
}

const Config::List& Config::list() const {
  if (const auto* value = std::get_if<List>(&value_)) return *value;
  wrong_type("a list");
}

const std::string& Config::text() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  wrong_type("a text in quotes");
}

std::int64_t Config::integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  wrong_type("a whole number");
}

double Config::real() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  wrong_type("a number");
}

bool Config::boolean() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  wrong_type("true or false");
}

const Config* Config::find(std::string_view key) const {
  for (const auto& [name, child] : table()) {
    if (name == key) return &child;
  }
  return nullptr;
}

const Config& Config::at(std::string_view key) const {
  if (const Config* child = find(key)) return *child;
  throw Error{invalid_argument, "{}: '{}' is missing", origin_.empty() ? "configuration" : origin_, key};
}

void Config::set(std::string_view dotted_key, std::string_view text, std::string origin) {
  const auto dot = dotted_key.find('.');
  const std::string_view key = dotted_key.substr(0, dot);
  auto* rows = std::get_if<Table>(&value_);
  if (rows == nullptr || key.empty()) throw Error{invalid_argument, "{}: '{}' names no setting", origin, dotted_key};
  auto row = std::find_if(rows->begin(), rows->end(), [&](const auto& r) { return r.first == key; });
  if (row == rows->end()) row = rows->insert(rows->end(), {std::string(key), Config(Table{}, origin)});
  if (dot != std::string_view::npos) return row->second.set(dotted_key.substr(dot + 1), text, std::move(origin));
  try {
    row->second = parse_toml(fmt::format("value = {}", text), origin).at("value");
    row->second.origin_ = std::move(origin);
  } catch (const Error&) {  // no TOML: a plain word, as shells leave it
    row->second = Config(std::string(text), std::move(origin));
  }
}

void Config::put(std::string_view key, Config value) {
  if (!is_table()) wrong_type("a table");
  auto& rows = std::get<Table>(value_);
  const auto row = std::ranges::find(rows, key, &Table::value_type::first);
  if (row == rows.end())
    rows.emplace_back(std::string(key), std::move(value));
  else
    row->second = std::move(value);
}

void Config::erase(std::string_view key) {
  if (!is_table()) wrong_type("a table");
  std::erase_if(std::get<Table>(value_), [&](const auto& row) { return row.first == key; });
}

void Config::rename(std::string_view dotted_key, std::string_view name) {
  const auto dot = dotted_key.find('.');
  auto* rows = std::get_if<Table>(&value_);
  if (rows == nullptr) return;
  const auto row = std::find_if(rows->begin(), rows->end(), [&](const auto& r) { return r.first == dotted_key.substr(0, dot); });
  if (row == rows->end()) return;
  if (dot != std::string_view::npos) return row->second.rename(dotted_key.substr(dot + 1), name);
  row->first = name;
}

std::string Config::describe_value() const {
  struct Describer {
    std::string operator()(const Table&) const { return "a table"; }
    std::string operator()(const List&) const { return "a list"; }
    std::string operator()(const std::string& text) const { return fmt::format("the text \"{}\"", text); }
    std::string operator()(std::int64_t number) const { return fmt::format("the number {}", number); }
    std::string operator()(double number) const { return fmt::format("the number {}", number); }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  };
  return std::visit(Describer{}, value_);
}

std::string Config::to_toml() const {
  struct Writer {
    std::string operator()(const Table& table) const {
      std::vector<std::string> rows;
      for (const auto& [key, value] : table) rows.push_back(fmt::format("{} = {}", toml_quoted(key), value.to_toml()));
      return fmt::format("{{ {} }}", fmt::join(rows, ", "));
    }
    std::string operator()(const List& list) const {
      std::vector<std::string> items;
      for (const Config& item : list) items.push_back(item.to_toml());
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    std::string operator()(const std::string& text) const { return toml_quoted(text); }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return toml_number(number); }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  };
  return std::visit(Writer{}, value_);
}

std::string toml_number(double number) {
  std::string text = fmt::format("{}", number);
  // Without a point or an exponent TOML would read a whole number.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace trireme
