// SPDX-License-Identifier: Apache-2.0
// Tables of classes, confusions and targets.
#include "trireme/report/scores/evaluation_text.h"

#include <fmt/format.h>

#include <map>

#include "trireme/base/table.h"

namespace trireme::report {
namespace {

constexpr std::size_t kMaxClasses = 20;  // more are not listed, only the weakest
constexpr std::size_t kWeakest = 10;
constexpr std::size_t kMaxMatrix = 12;  // columns that fit a terminal
constexpr std::size_t kConfused = 10;

using Align = TextTable::Align;

std::string share(double value) { return fmt::format("{:.4f}", value); }

void add_mean(TextTable& table, const char* name, const MeanScore& mean) {
  table.add_row({name, share(mean.precision), share(mean.recall), share(mean.f1), ""});
}

std::string class_table(const ClassEvaluation& evaluation) {
  TextTable table({{"class"}, {"precision", Align::right}, {"recall", Align::right}, {"F1", Align::right}, {"samples", Align::right}});
  const auto add = [&](std::size_t i) {
    const ClassScore& one = evaluation.classes[i];
    table.add_row({one.name, share(one.precision), share(one.recall), share(one.f1), with_thousands(one.support)});
  };
  const bool is_long = evaluation.classes.size() > kMaxClasses;
  if (is_long)
    for (const std::size_t i : weakest_classes(evaluation, kWeakest)) add(i);
  else
    for (std::size_t i = 0; i < evaluation.classes.size(); ++i) add(i);
  add_mean(table, "(mean of classes)", evaluation.macro);
  add_mean(table, "(weighted by samples)", evaluation.weighted);
  const std::string title =
      is_long ? fmt::format("the {} weakest of {} classes (--json has all)\n", kWeakest, evaluation.classes.size()) : std::string{};
  return title + table.to_string();
}

std::string matrix(const ClassEvaluation& evaluation) {
  const std::size_t size = evaluation.classes.size();
  if (size > kMaxMatrix || size < 2) return "";
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> cells;
  for (const Confusion& cell : evaluation.confusions) cells[{cell.label, cell.answer}] = cell.count;
  std::vector<TextTable::Column> columns{{"class"}, {"", Align::right}};
  for (std::size_t i = 0; i < size; ++i) columns.push_back({std::to_string(i), Align::right});
  TextTable table(std::move(columns));
  for (std::size_t label = 0; label < size; ++label) {
    std::vector<std::string> row{evaluation.classes[label].name, std::to_string(label)};
    for (std::size_t answer = 0; answer < size; ++answer) {
      const auto found = cells.find({static_cast<std::int64_t>(label), static_cast<std::int64_t>(answer)});
      row.push_back(found == cells.end() ? "." : with_thousands(found->second));
    }
    table.add_row(std::move(row));
  }
  return "\nconfusion matrix: a row is the class of the samples, a column the answer\n" + table.to_string();
}

std::string confused(const ClassEvaluation& evaluation) {
  const std::vector<Confusion> cells = most_confused(evaluation, kConfused);
  if (cells.empty()) return "";
  TextTable table({{"class"}, {"taken for"}, {"samples", Align::right}, {"of the class", Align::right}});
  for (const Confusion& cell : cells) {
    const ClassScore& label = evaluation.classes[static_cast<std::size_t>(cell.label)];
    const double part = label.support == 0 ? 0 : static_cast<double>(cell.count) / static_cast<double>(label.support);
    table.add_row({label.name, evaluation.classes[static_cast<std::size_t>(cell.answer)].name, with_thousands(cell.count),
                   fmt::format("{:.1f} %", 100 * part)});
  }
  return "\nmost frequent confusions\n" + table.to_string();
}

std::string target_table(const NumberEvaluation& numbers) {
  if (numbers.targets.size() < 2) return "";
  TextTable table({{"target"}, {"MAE", Align::right}, {"RMSE", Align::right}, {"R²", Align::right}});
  for (std::size_t i = 0; i < numbers.targets.size(); ++i) {
    const NumberScore& one = numbers.targets[i];
    table.add_row({std::to_string(i + 1), fmt::format("{:.6g}", one.mean_absolute_error),
                   fmt::format("{:.6g}", one.root_mean_squared_error), share(one.r_squared)});
  }
  return table.to_string();
}

}  // namespace

std::string headline(const Evaluation& evaluation) {
  if (evaluation.classes) {
    std::string text = fmt::format("accuracy {:.2f} %", 100 * evaluation.classes->accuracy);
    if (evaluation.classes->k > 0)
      text += fmt::format("  top-{} {:.2f} %", evaluation.classes->k, 100 * evaluation.classes->top_k_accuracy);
    return text;
  }
  if (!evaluation.numbers) return "";
  const NumberScore& mean = evaluation.numbers->mean;
  return fmt::format("MAE {:.6g}  RMSE {:.6g}  R² {:.4f}", mean.mean_absolute_error, mean.root_mean_squared_error, mean.r_squared);
}

std::string to_text(const Evaluation& evaluation) {
  if (evaluation.classes) return class_table(*evaluation.classes) + matrix(*evaluation.classes) + confused(*evaluation.classes);
  return evaluation.numbers ? target_table(*evaluation.numbers) : "";
}

}  // namespace trireme::report
