// SPDX-License-Identifier: Apache-2.0
// Words, times and keys of a list of runs.
#include "trireme/report/folder/run_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <map>
#include <sstream>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::report {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

bool has(std::string_view text, std::string_view part) { return lower(text).find(lower(part)) != std::string::npos; }

bool has_all_words(const RunEntry& entry, const std::string& text) {
  const RunSummary& s = entry.summary;
  const std::string all = fmt::format("{} {} {} {} {} {} {}", entry.name, s.job, s.model, s.data, s.strategy, s.host, entry.note);
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (!has(all, word)) return false;
  return true;
}

// "3d": seconds; 0 if it is no such text.
double span_of(const std::string& text) {
  static const std::map<char, double> kUnits{{'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
  double count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  const auto unit = end + 1 == text.data() + text.size() ? kUnits.find(*end) : kUnits.end();
  return fault == std::errc{} && unit != kUnits.end() && count > 0 ? count * unit->second : 0;
}

constexpr std::array<std::pair<std::string_view, RunOrder>, 11> kOrders{{{"when", RunOrder::when},
                                                                         {"name", RunOrder::name},
                                                                         {"model", RunOrder::model},
                                                                         {"data", RunOrder::data},
                                                                         {"outcome", RunOrder::outcome},
                                                                         {"epochs", RunOrder::epochs},
                                                                         {"loss", RunOrder::loss},
                                                                         {"accuracy", RunOrder::accuracy},
                                                                         {"best", RunOrder::best},
                                                                         {"time", RunOrder::time},
                                                                         {"speed", RunOrder::speed}}};

// Lowest first; unknown last.
double rank_of(const RunEntry& entry, RunOrder order) {
  const RunSummary& s = entry.summary;
  double value = 0;
  if (order == RunOrder::when) value = -s.started;
  if (order == RunOrder::outcome) value = static_cast<double>(entry.outcome);
  if (order == RunOrder::epochs) value = -s.epochs_done;
  if (order == RunOrder::loss) value = entry.loss();
  if (order == RunOrder::accuracy) value = -entry.accuracy();
  if (order == RunOrder::best) value = std::isfinite(entry.best().accuracy) ? -entry.best().accuracy : entry.best().loss;
  if (order == RunOrder::time) value = s.seconds;
  if (order == RunOrder::speed) value = -s.samples_per_second;
  return std::isfinite(value) ? value : HUGE_VAL;
}

const std::string& word_of(const RunEntry& entry, RunOrder order) {
  static const std::string kNone;
  if (order == RunOrder::name) return entry.name;
  if (order == RunOrder::model) return entry.summary.model;
  return order == RunOrder::data ? entry.summary.data : kNone;
}

}  // namespace

bool passes(const RunFilter& filter, const RunEntry& entry) {
  if (!filter.model.empty() && !has(entry.summary.model, filter.model)) return false;
  if (!filter.outcome.empty() && name_of(entry.outcome) != filter.outcome) return false;
  if (filter.since > 0 && !(entry.summary.started >= filter.since)) return false;
  return has_all_words(entry, filter.text);
}

double parse_since(const std::string& text, double now) {
  if (const double span = span_of(text); span > 0) return now - span;
  for (const char* form : {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"}) {
    std::tm time{};
    const char* end = ::strptime(text.c_str(), form, &time);
    time.tm_isdst = -1;
    if (end != nullptr && *end == '\0') return static_cast<double>(std::mktime(&time));
  }
  throw Error{invalid_argument, "'{}' is no time; write a date, \"2026-11-17\" or \"2026-11-17 08:30\", or how long ago: 90m, 12h, 3d, 2w",
              text};
}

RunOrder run_order(std::string_view name) {
  const auto* const found = std::ranges::find(kOrders, name, &std::pair<std::string_view, RunOrder>::first);
  if (found == kOrders.end()) throw Error{invalid_argument, "there is no order '{}'", name};
  return found->second;
}

void sort_runs(std::vector<RunEntry>& entries, RunOrder order) {
  std::ranges::stable_sort(entries, [order](const RunEntry& a, const RunEntry& b) {
    const double one = rank_of(a, order), other = rank_of(b, order);
    return one != other ? one < other : word_of(a, order) < word_of(b, order);
  });
}

}  // namespace trireme::report
