// SPDX-License-Identifier: Apache-2.0
// Tables of classes and confusions; of many classes the weakest.
#include "trireme/report/write/learned_markdown.h"

#include <fmt/format.h>

#include "trireme/report/document/words.h"
#include "trireme/report/scores/evaluation_text.h"
#include "trireme/report/write/markdown.h"

namespace trireme::report {
namespace {

constexpr std::size_t kMaxClasses = 40;
constexpr std::size_t kConfused = 10;

std::vector<std::string> row(const ClassScore& one) {
  return {one.name, fixed(one.precision, 4), fixed(one.recall, 4), fixed(one.f1, 4), plain(static_cast<double>(one.support))};
}

std::string class_table(const ClassEvaluation& classes) {
  Table table{.columns = {"class", "precision", "recall", "F1", "samples"}};
  const bool is_long = classes.classes.size() > kMaxClasses;
  if (is_long)
    for (const std::size_t i : weakest_classes(classes, kMaxClasses)) table.rows.push_back(row(classes.classes[i]));
  else
    for (const ClassScore& one : classes.classes) table.rows.push_back(row(one));
  const auto mean = [&](const char* name, const MeanScore& score) {
    table.rows.push_back({name, fixed(score.precision, 4), fixed(score.recall, 4), fixed(score.f1, 4), ""});
  };
  mean("(mean of classes)", classes.macro);
  mean("(weighted by samples)", classes.weighted);
  return markdown_table(table) + (is_long ? fmt::format("\nThe {} weakest of {} classes.\n", kMaxClasses, classes.classes.size()) : "");
}

std::string confused_table(const ClassEvaluation& classes) {
  Table table{.columns = {"class", "taken for", "samples"}};
  for (const Confusion& cell : most_confused(classes, kConfused))
    table.rows.push_back({classes.classes[static_cast<std::size_t>(cell.label)].name,
                          classes.classes[static_cast<std::size_t>(cell.answer)].name, plain(static_cast<double>(cell.count))});
  return table.rows.empty() ? "" : "\nMost frequent confusions:\n\n" + markdown_table(table);
}

std::string target_table(const NumberEvaluation& numbers) {
  Table table{.columns = {"target", "MAE", "RMSE", "R²"}};
  for (std::size_t i = 0; i < numbers.targets.size(); ++i) {
    const NumberScore& one = numbers.targets[i];
    table.rows.push_back({std::to_string(i + 1), fmt::format("{:.6g}", one.mean_absolute_error),
                          fmt::format("{:.6g}", one.root_mean_squared_error), fixed(one.r_squared, 4)});
  }
  return markdown_table(table);
}

}  // namespace

std::string learned_markdown(const RunDocument& d) {
  if (!d.evaluation) return "";
  const Evaluation& e = *d.evaluation;
  std::string text = fmt::format("Checkpoint {}{} on {} {} samples{}: loss {:.4f}, {}.\n\n", e.checkpoint,
                                 e.weights == "best" ? ", weights of its best epoch," : "", plain(static_cast<double>(e.samples)), e.part,
                                 e.samples < e.of ? fmt::format(" of {}", e.of) : "", e.loss, headline(e));
  if (e.classes) return text + class_table(*e.classes) + confused_table(*e.classes);
  return text + (e.numbers ? target_table(*e.numbers) : "");
}

}  // namespace trireme::report
