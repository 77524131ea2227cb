// SPDX-License-Identifier: Apache-2.0
// A recursive reader of loose JSON; nlohmann's parser decodes the single texts and numbers.
#include "trireme/cluster/inventory/loose_json.h"

#include <algorithm>
#include <cctype>

#include "trireme/base/error.h"
#include "trireme/base/json.h"

namespace trireme::cluster {
namespace {

constexpr int kDeepest = 32;  // tables in tables; the stack must not be at the file's mercy

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-'; }

class LooseReader {
 public:
  LooseReader(std::string_view text, std::string_view name, std::vector<std::string>& warnings)
      : text_(text), name_(name), warnings_(warnings) {}

  Config document() {
    Config result = value(0);
    skip_blanks();
    if (at_ < text_.size()) fail(fmt::format("'{}' follows the end", text_[at_]));
    return result;
  }

 private:
  std::string origin() const { return fmt::format("{}:{}", name_, line_); }
  [[noreturn]] void fail(std::string_view what) const { throw Error{invalid_argument, "{}: {}", origin(), what}; }
  void warn(std::string_view what) { warnings_.push_back(fmt::format("{}: {}", origin(), what)); }

  void skip_blanks() {
    for (; at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }
  char peek() {
    skip_blanks();
    if (at_ == text_.size()) fail("the file ends too early; a closing '}' or ']' is missing");
    return text_[at_];
  }
  bool take(char c) {
    const bool is_there = peek() == c;
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  Config value(int depth) {
    if (depth > kDeepest) fail("tables are nested too deeply");
    const char c = peek();
    const std::string place = origin();
    if (c == '{') return {table(depth), place};
    if (c == '[') return {list(depth), place};
    if (c == '"') return {quoted(), place};
    if (is_word_character(c)) return word(place);
    fail(fmt::format("a value was expected, not '{}'", c));
  }

  Config::Table table(int depth) {
    take('{');
    Config::Table table;
    while (next('}', !table.empty())) {
      if (peek() != '"') fail("the quoted name of a field was expected");
      std::string key = quoted();
      if (!take(':')) fail(fmt::format("a colon must follow \"{}\"", key));
      table.emplace_back(std::move(key), value(depth + 1));
    }
    return table;
  }

  Config::List list(int depth) {
    take('[');
    Config::List list;
    while (next(']', !list.empty())) list.push_back(value(depth + 1));
    return list;
  }

  // Goes over the comma between two items, there or not; false at the closing bracket.
  bool next(char closing, bool has_items) {
    if (take(closing)) return false;
    if (!has_items) return true;
    if (!take(',')) {
      warn("a comma is missing; read as if it were there");
      return true;
    }
    if (!take(closing)) return true;
    warn(fmt::format("a comma before '{}' is passed over", closing));
    return false;
  }

  std::string quoted() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] != '"') fail("a closing quote is missing");
    const std::string_view token = text_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    const auto decoded = parse_json_or_discard(token);
    if (!decoded.is_string()) fail("a text with a wrong escape or encoding");
    return decoded.get<std::string>();
  }

  Config word(const std::string& place) {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    const std::string_view token = text_.substr(first, at_ - first);
    const auto decoded = parse_json_or_discard(token);
    if (decoded.is_boolean()) return {decoded.get<bool>(), place};
    if (decoded.is_number_integer() && decoded <= std::numeric_limits<std::int64_t>::max()) return {decoded.get<std::int64_t>(), place};
    if (decoded.is_number()) return {decoded.get<double>(), place};
    return bare_word(std::string(token), place);
  }

  Config bare_word(std::string token, const std::string& place) {
    std::string lower = token;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_yes = lower == "yes" || lower == "true";
    if (is_yes || lower == "no" || lower == "false") {
      warn(fmt::format("the bare word {} is read as {}", token, is_yes));
      return {is_yes, place};
    }
    warn(fmt::format("the bare word {} is read as the text \"{}\"", token, token));
    return {std::move(token), place};
  }

  std::string_view text_;
  std::string_view name_;
  std::vector<std::string>& warnings_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Config parse_loose_json(std::string_view text, std::string_view name, std::vector<std::string>& warnings) {
  return LooseReader(text, name, warnings).document();
}

}  // namespace trireme::cluster
