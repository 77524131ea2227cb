// SPDX-License-Identifier: Apache-2.0
// Short texts of strategies, through the same options that a job file has.
#include "trireme/train/job/strategy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/train/job/strategy_entry.h"

namespace trireme::train {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto at = text.find(separator);
    std::string_view part = text.substr(0, at);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::any short_defaults(const StrategyEntry& entry) {
  Config table;
  for (const auto& [key, value] : entry.short_defaults) table.set(key, value, "default");
  std::any options = entry.options.defaults();
  OptionReader reader(table, "default");
  entry.options.visit(options, reader);
  return options;
}

// As TOML writes it, but a plain word without its quotes.
std::string bare(const std::string& value) {
  const bool is_word = value.size() > 2 && value.front() == '"' && std::all_of(value.begin() + 1, value.end() - 1, [](char c) {
                         return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
                       });
  return is_word ? value.substr(1, value.size() - 2) : value;
}

void set_short(Config& table, const StrategyEntry& entry, const std::vector<std::string>& words, const std::string& origin) {
  if (words.size() - 1 > entry.short_keys.size())
    throw Error{invalid_argument,
                "{}: '{}' takes {} after its name; other options follow a comma: {},key=value",
                origin,
                entry.name,
                entry.short_keys.empty() ? std::string("nothing") : fmt::format("{} at most", entry.short_keys.size()),
                entry.name};
  for (std::size_t i = 1; i < words.size(); ++i) table.set(entry.short_keys[i - 1], words[i], origin);
}

}  // namespace

StrategyPart parse_strategy(std::string_view text, std::string_view place) {
  const std::string origin = fmt::format("{} \"{}\"", place, text);
  const std::vector<std::string> settings = split(text, ',');
  const std::vector<std::string> words = split(settings.front(), ':');
  const StrategyEntry& entry = find_strategy(words.front());
  if (entry.make == nullptr)
    throw Error{invalid_argument,
                "{}: '{}' is made of other strategies, and here one is named; a job file says "
                "strategy = {{ name = \"switch\", from = \"allreduce\", to = \"ps:async\", at = 0.5 }}",
                origin, entry.name};
  Config table;
  set_short(table, entry, words, origin);
  for (std::size_t i = 1; i < settings.size(); ++i) {
    const auto equals = settings[i].find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error{invalid_argument, "{}: '{}' is no option; write key=value", origin, settings[i]};
    table.set(settings[i].substr(0, equals), settings[i].substr(equals + 1), origin);
  }
  StrategyPart part{.name = std::string(entry.name), .options = short_defaults(entry)};
  OptionReader reader(table, std::string(place));
  entry.options.visit(part.options, reader);
  reader.finish();
  if (entry.check != nullptr) entry.check(part.options);
  return part;
}

StrategyPart parse_team_strategy(std::string_view text, std::string_view place) {
  StrategyPart part = parse_strategy(text, place);
  if (find_strategy(part.name).for_one)
    throw Error{invalid_argument, "{} \"{}\": that is for one node alone; of several, take allreduce, ps or local_sgd", place, text};
  return part;
}

std::vector<OptionRow> option_rows(const StrategyPart& part) {
  std::any options = part.options;
  OptionLister lister;
  find_strategy(part.name).options.visit(options, lister);
  return lister.rows;
}

std::string text_of(const StrategyPart& part) {
  const StrategyEntry& entry = find_strategy(part.name);
  const std::vector<OptionRow> usual = option_rows({.name = part.name, .options = short_defaults(entry)});
  const std::vector<OptionRow> own = option_rows(part);
  const auto value_of = [](const std::vector<OptionRow>& rows, std::string_view name) {
    return std::ranges::find(rows, name, &OptionRow::name)->value;
  };
  std::string text = part.name;
  // The first always, others up to the last that is not as usual.
  std::size_t shown = std::min<std::size_t>(entry.short_keys.size(), 1);
  for (std::size_t i = shown; i < entry.short_keys.size(); ++i)
    if (value_of(own, entry.short_keys[i]) != value_of(usual, entry.short_keys[i])) shown = i + 1;
  for (std::size_t i = 0; i < shown; ++i) text += ":" + bare(value_of(own, entry.short_keys[i]));
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i].value != usual[i].value && std::ranges::find(entry.short_keys, own[i].name) == entry.short_keys.end())
      text += fmt::format(",{}={}", own[i].name, bare(own[i].value));
  return text;
}

std::string kind_of(const StrategyPart& part) {
  const std::vector<OptionRow> rows = option_rows(part);
  std::string text = part.name;
  for (const std::string_view key : find_strategy(part.name).short_keys) {
    const std::string& value = std::ranges::find(rows, key, &OptionRow::name)->value;
    if (bare(value) != value) text += ":" + bare(value);
  }
  return text;
}

StrategyFacts facts_of(const StrategyPart& part, const ParameterSpace& space) {
  const StrategyEntry& entry = find_strategy(part.name);
  ensure(entry.facts != nullptr, "a strategy that is not made of others states its facts");
  return entry.facts(part.options, space);
}

}  // namespace trireme::train
