// SPDX-License-Identifier: Apache-2.0
// The matrix is written whole while it is small, else only what was confused most.
#include "trireme/report/scores/evaluation_json.h"

#include <limits>

#include "trireme/base/error.h"

namespace trireme::report {
namespace {

constexpr std::size_t kMaxMatrix = 256;  // classes
constexpr std::size_t kMaxConfused = 50;

Json json_of(const MeanScore& mean) { return {{"precision", mean.precision}, {"recall", mean.recall}, {"f1", mean.f1}}; }

Json matrix_of(const ClassEvaluation& classes) {
  const std::size_t size = classes.classes.size();
  if (size > kMaxMatrix) return {};
  std::vector<std::vector<std::int64_t>> rows(size, std::vector<std::int64_t>(size));
  for (const Confusion& cell : classes.confusions)
    rows[static_cast<std::size_t>(cell.label)][static_cast<std::size_t>(cell.answer)] = cell.count;
  return rows;
}

void add(Json& json, const ClassEvaluation& classes) {
  json["accuracy"] = classes.accuracy;
  json["top_k"] = classes.k > 0 ? Json{{"k", classes.k}, {"accuracy", classes.top_k_accuracy}} : Json();
  json["macro"] = json_of(classes.macro);
  json["weighted"] = json_of(classes.weighted);
  json["classes"] = Json::array();
  for (std::size_t i = 0; i < classes.classes.size(); ++i) {
    const ClassScore& one = classes.classes[i];
    json["classes"].push_back({{"class", i},
                               {"name", one.name},
                               {"precision", one.precision},
                               {"recall", one.recall},
                               {"f1", one.f1},
                               {"support", one.support},
                               {"answers", one.answers}});
  }
  json["confusion"] = matrix_of(classes);
  json["confused"] = Json::array();
  for (const Confusion& cell : most_confused(classes, kMaxConfused))
    json["confused"].push_back({{"label", cell.label}, {"answer", cell.answer}, {"count", cell.count}});
}

Json json_of(const NumberScore& score) {
  return {{"mae", score.mean_absolute_error}, {"rmse", score.root_mean_squared_error}, {"r2", score.r_squared}};
}

void add(Json& json, const NumberEvaluation& numbers) {
  json.update(json_of(numbers.mean));
  json["targets"] = Json::array();
  for (const NumberScore& target : numbers.targets) json["targets"].push_back(json_of(target));
}

double number_of(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

MeanScore mean_of(const Json& json) {
  return {.precision = number_of(json, "precision"), .recall = number_of(json, "recall"), .f1 = number_of(json, "f1")};
}

NumberScore score_of(const Json& json) {
  return {.mean_absolute_error = number_of(json, "mae"),
          .root_mean_squared_error = number_of(json, "rmse"),
          .r_squared = number_of(json, "r2")};
}

std::vector<Confusion> confusions_of(const Json& json) {
  std::vector<Confusion> cells;
  if (const Json& matrix = json.at("confusion"); matrix.is_array()) {
    for (std::size_t label = 0; label < matrix.size(); ++label)
      for (std::size_t answer = 0; answer < matrix[label].size(); ++answer)
        if (const auto count = matrix[label][answer].get<std::int64_t>(); count > 0)
          cells.push_back({.label = static_cast<std::int64_t>(label), .answer = static_cast<std::int64_t>(answer), .count = count});
    return cells;
  }
  for (const Json& cell : json.at("confused"))
    cells.push_back({.label = cell.at("label"), .answer = cell.at("answer"), .count = cell.at("count")});
  return cells;
}

ClassEvaluation classes_of(const Json& json) {
  ClassEvaluation classes{.accuracy = number_of(json, "accuracy"),
                          .k = 0,
                          .top_k_accuracy = 0,
                          .classes = {},
                          .macro = mean_of(json.at("macro")),
                          .weighted = mean_of(json.at("weighted")),
                          .confusions = confusions_of(json)};
  if (const Json& top = json.at("top_k"); !top.is_null()) {
    classes.k = top.at("k");
    classes.top_k_accuracy = number_of(top, "accuracy");
  }
  for (const Json& one : json.at("classes"))
    classes.classes.push_back({.name = one.at("name"),
                               .precision = number_of(one, "precision"),
                               .recall = number_of(one, "recall"),
                               .f1 = number_of(one, "f1"),
                               .support = one.at("support"),
                               .answers = one.at("answers")});
  const auto size = static_cast<std::int64_t>(classes.classes.size());
  for (const Confusion& cell : classes.confusions)
    if (cell.label < 0 || cell.label >= size || cell.answer < 0 || cell.answer >= size)
      throw Error{data_loss, "a cell of class {} and answer {} of {} classes", cell.label, cell.answer, size};
  return classes;
}

}  // namespace

Json json_of(const Evaluation& evaluation) {
  Json json{{"version", 1},
            {"part", evaluation.part},
            {"checkpoint", evaluation.checkpoint},
            {"weights", evaluation.weights},
            {"samples", evaluation.samples},
            {"of", evaluation.of},
            {"seconds", evaluation.seconds},
            {"loss", evaluation.loss}};
  if (evaluation.classes) add(json, *evaluation.classes);
  if (evaluation.numbers) add(json, *evaluation.numbers);
  return json;
}

Evaluation evaluation_of(const Json& json) {
  try {
    Evaluation evaluation{.part = json.at("part"),
                          .checkpoint = json.at("checkpoint"),
                          .weights = json.value("weights", "last"),
                          .samples = json.at("samples"),
                          .of = json.at("of"),
                          .seconds = number_of(json, "seconds"),
                          .loss = number_of(json, "loss"),
                          .classes = {},
                          .numbers = {}};
    if (json.contains("classes")) evaluation.classes = classes_of(json);
    if (json.contains("targets")) {
      evaluation.numbers.emplace(NumberEvaluation{.mean = score_of(json), .targets = {}});
      for (const Json& target : json.at("targets")) evaluation.numbers->targets.push_back(score_of(target));
    }
    return evaluation;
  } catch (const Json::exception& fault) {  // foreign
    throw Error{data_loss, "no evaluation as Trireme writes it: {}", fault.what()};
  }
}

}  // namespace trireme::report
