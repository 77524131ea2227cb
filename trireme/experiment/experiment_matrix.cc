// SPDX-License-Identifier: Apache-2.0
// Axes of a matrix, their combinations, and labels made of what varies.
#include "trireme/experiment/experiment_matrix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/experiment/comparison.h"
#include "trireme/run/setup/strategy_choice.h"

namespace trireme::experiment {
namespace {

constexpr std::size_t kMaxVariants = 500;

struct Axis {
  std::string key;  // "strategy", "nodes", "train.batch_size", or any name if the values are tables
  std::vector<Config> values;
};

std::vector<Axis> axes_of(const Config& matrix) {
  std::vector<Axis> axes;
  for (const auto& [key, value] : matrix.table()) {
    if (key == "seeds") continue;
    if (!value.is_list() || value.list().empty())
      throw Error{invalid_argument, "{}: '{}' in [compare.matrix] is a list of values, e.g. {} = [1, 2]", value.origin(), key, key};
    axes.push_back({.key = key, .values = value.list()});
    const bool is_of_job = key == "strategy" || key == "nodes" || key.find('.') != std::string::npos;
    if (!is_of_job && !value.list().front().is_table())
      throw Error{
          invalid_argument,
          "{}: '{}' in [compare.matrix] is neither strategy, nodes, seeds nor a setting such as \"train.batch_size\" (in quotes); under "
          "another name, its values are tables with a label",
          value.origin(), key};
  }
  if (axes.empty()) throw Error{invalid_argument, "{}: [compare.matrix] has no lists of values", matrix.origin()};
  return axes;
}

std::string plain_text(const Config& value) { return value.is_text() ? value.text() : value.to_toml(); }

std::string value_label(const Axis& axis, const Config& value) {
  if (value.is_table()) return value.at("label").text();
  std::string text = plain_text(value);
  if (axis.key == "strategy" || axis.key == "model.name" || axis.key == "data.name") return text;
  if (axis.key == "nodes") return text + (text == "1" ? " node" : " nodes");
  if (axis.key == "train.batch_size") return "batch " + text;
  return axis.key.substr(axis.key.rfind('.') + 1) + " " + text;
}

void apply(const Axis& axis, const Config& value, Variant& variant) {
  if (axis.key == "nodes") {
    variant.nodes = value.integer();
  } else if (value.is_table()) {
    Config::Table tables;
    for (const auto& [key, table] : value.table()) {
      if (key == "label") continue;
      if (key == "nodes") {
        variant.nodes = table.integer();
        continue;
      }
      if (!table.is_table()) throw Error{invalid_argument, "{}: '{}' is neither label, nodes nor a table of the job", table.origin(), key};
      if (key == "strategy") variant.job.set("strategy", "{}", table.origin());
      tables.emplace_back(key, table);
    }
    variant.job = overlaid(variant.job, Config(std::move(tables), value.origin()));
  } else if (axis.key == "strategy") {
    run::choose_strategy(variant.job, value.text());
  } else {
    variant.job.set(axis.key, value.to_toml(), value.origin());
  }
}

using Chosen = std::vector<std::size_t>;  // of each axis, a value

// {strategy = "allreduce", nodes = 1}: those it names must be so. A value that is a table is named by its label.
bool matches(const std::vector<Axis>& axes, const Chosen& chosen, const Config& condition) {
  for (const auto& [key, wanted] : condition.table()) {
    const auto axis = std::ranges::find(axes, key, &Axis::key);
    if (axis == axes.end())
      throw Error{invalid_argument, "{}: '{}' is no list of [compare.matrix], so nothing can be chosen by it", wanted.origin(), key};
    const Config& value = axis->values[chosen[static_cast<std::size_t>(axis - axes.begin())]];
    const std::string name = value.is_table() ? value.at("label").text() : plain_text(value);
    if (name != plain_text(wanted)) return false;
  }
  return true;
}

bool is_excluded(const std::vector<Axis>& axes, const Chosen& chosen, const Config& compare) {
  const Config* list = compare.find("exclude");
  return list != nullptr && std::ranges::any_of(list->list(), [&](const Config& row) { return matches(axes, chosen, row); });
}

// {when = {...} or label = "...", accuracy = 0.98, seconds = 144.7}
void add_published(const std::vector<Axis>& axes, const Chosen& chosen, const Config& compare, Variant& variant) {
  const Config* list = compare.find("published");
  if (list == nullptr) return;
  for (const Config& row : list->list()) {
    const Config* when = row.find("when");
    const Config* label = row.find("label");
    if ((when == nullptr) == (label == nullptr))
      throw Error{invalid_argument, "{}: published numbers have either when = {{ ... }} or label = \"...\"", row.origin()};
    if (when != nullptr ? !matches(axes, chosen, *when) : label->text() != variant.label) continue;
    Config::Table numbers;
    for (const auto& [key, value] : row.table())
      if (key != "when" && key != "label") numbers.emplace_back(key, value);
    for (const auto& [name, value] : published_numbers(Config(std::move(numbers), row.origin()))) variant.published[name] = value;
  }
}

std::string label_of(const std::vector<Axis>& axes, const Chosen& chosen) {
  std::vector<std::string> words;
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (axes[a].values.size() > 1) words.push_back(value_label(axes[a], axes[a].values[chosen[a]]));
  return words.empty() ? "the one" : fmt::format("{}", fmt::join(words, ", "));
}

// The last axis first, like the digits of a number; false after the last one.
bool advance(const std::vector<Axis>& axes, Chosen& chosen) {
  for (std::size_t a = axes.size(); a-- > 0;) {
    if (++chosen[a] < axes[a].values.size()) return true;
    chosen[a] = 0;
  }
  return false;
}

}  // namespace

std::map<std::string, double> published_numbers(const Config& table) {
  std::map<std::string, double> published;
  for (const auto& [name, value] : table.table()) {
    if (std::none_of(metrics().begin(), metrics().end(), [&name = name](const Metric& m) { return m.name == name; }))
      throw Error{invalid_argument,
                  "{}: a comparison has no '{}'; published can be accuracy, seconds, training_accuracy, loss, training_loss and others of "
                  "table.json",
                  value.origin(), name};
    published[name] = value.real();
  }
  return published;
}

std::vector<Variant> matrix_variants(const Config& job, const Config& compare, std::int64_t nodes) {
  const std::vector<Axis> axes = axes_of(compare.at("matrix"));
  std::vector<Variant> variants;
  Chosen chosen(axes.size(), 0);
  do {
    if (is_excluded(axes, chosen, compare)) continue;
    if (variants.size() == kMaxVariants)
      throw Error{invalid_argument, "{}: [compare.matrix] has more than {} combinations", compare.origin(), kMaxVariants};
    Variant variant{.label = label_of(axes, chosen), .folder = {}, .nodes = nodes, .job = job, .published = {}};
    for (std::size_t a = 0; a < axes.size(); ++a) apply(axes[a], axes[a].values[chosen[a]], variant);
    add_published(axes, chosen, compare, variant);
    variants.push_back(std::move(variant));
  } while (advance(axes, chosen));
  return variants;
}

}  // namespace trireme::experiment
