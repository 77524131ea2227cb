// SPDX-License-Identifier: Apache-2.0
// Writes a comparison as JSON.
#include <cmath>

#include "trireme/base/json.h"
#include "trireme/experiment/comparison.h"

namespace trireme::experiment {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json cell_json(const RunCell& cell) {
  Json json{{"seed", cell.seed}, {"folder", cell.folder}, {"state", cell.run ? "finished" : cell.failure.empty() ? "missing" : "failed"}};
  if (!cell.failure.empty()) json["failure"] = cell.failure;
  if (!cell.run) return json;
  json["run"] = cell.run->directory.string();
  for (const Metric& metric : metrics()) json[std::string(metric.name)] = number(metric.value(*cell.run));
  return json;
}

Json variant_json(const VariantRuns& runs) {
  Json json{{"label", runs.variant.label}, {"nodes", runs.variant.nodes}};
  for (const Metric& metric : metrics()) {
    const Sample sample = sample_of(runs, metric);
    json["metrics"][std::string(metric.name)] = {{"mean", number(sample.mean())}, {"sd", number(sample.sd())}, {"runs", sample.size()}};
  }
  json["published"] = runs.variant.published;
  json["runs"] = Json::array();
  for (const RunCell& cell : runs.cells) json["runs"].push_back(cell_json(cell));
  return json;
}

std::string_view word(Relation relation) {
  return relation == Relation::better ? "better" : relation == Relation::similar ? "similar" : "one run each";
}
std::string_view word(Verdict verdict) {
  return verdict == Verdict::agrees ? "agrees" : verdict == Verdict::disagrees ? "disagrees" : "can't be told";
}

Json order_json(const Comparison& comparison, std::string_view name, Best best) {
  std::vector<Sample> samples;
  std::vector<double> published;
  for (const VariantRuns& runs : comparison.runs) {
    samples.push_back(sample_of(runs, metric(name)));
    const auto found = runs.variant.published.find(std::string(name));
    published.push_back(found == runs.variant.published.end() ? kUnknown : found->second);
  }
  const auto label = [&](std::size_t i) { return comparison.runs[i].variant.label; };
  const Ranking ranking = rank(samples, best);
  Json json{{"order", Json::array()}, {"relations", Json::array()}, {"pairs", Json::array()}};
  for (const std::size_t i : ranking.order) json["order"].push_back(label(i));
  for (const Relation relation : ranking.relations) json["relations"].push_back(word(relation));
  for (const Pair& pair : check_pairs(samples, published, best))
    json["pairs"].push_back({{"better", label(pair.better)}, {"worse", label(pair.worse)}, {"verdict", word(pair.verdict)}});
  return json;
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json json{{"title", comparison.experiment.title},
            {"seeds", comparison.experiment.seeds},
            {"confidence", kComparisonConfidence},
            {"variants", Json::array()}};
  for (const VariantRuns& runs : comparison.runs) json["variants"].push_back(variant_json(runs));
  json["accuracy"] = order_json(comparison, "accuracy", Best::most);
  json["seconds"] = order_json(comparison, "seconds", Best::least);
  json["mixes"] = Json::array();
  for (const Mix& mix : mixes(comparison.runs))
    json["mixes"].push_back({{"variant", comparison.runs[mix.variant].variant.label},
                             {"fraction", mix.fraction},
                             {"seconds", mix.seconds},
                             {"expected_seconds", mix.expected}});
  return json.dump(2) + "\n";
}

}  // namespace trireme::experiment
