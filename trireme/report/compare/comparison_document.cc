// SPDX-License-Identifier: Apache-2.0
// Runs to tables, figures and notes, and all of it as JSON.
#include "trireme/report/compare/comparison_document.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/json.h"
#include "trireme/report/compare/factors.h"
#include "trireme/report/compare/parity.h"
#include "trireme/report/compare/tables.h"
#include "trireme/report/document/document_json.h"

namespace trireme::report {
namespace {

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::isfinite(value) ? Json(value) : Json());
  return list;
}

Json figure_json(const Figure& figure) {
  Json json{{"title", figure.title}, {"kind", figure.kind}, {"x", figure.kind == "bars" ? Json(figure.labels) : numbers(figure.numbers)}};
  json["series"] = Json::array();
  for (const FigureSeries& series : figure.series)
    json["series"].push_back({{"name", series.name}, {"values", numbers(series.values)}, {"spread", numbers(series.spread)}});
  json["y_title"] = figure.y_title;
  return json;
}

}  // namespace

std::vector<Group> groups_of(const std::vector<ComparedRun>& runs) {
  std::vector<Group> groups;
  for (const ComparedRun& run : runs) {
    auto group = std::ranges::find(groups, run.label, &Group::label);
    if (group == groups.end()) group = groups.insert(groups.end(), {.label = run.label, .runs = {}});
    group->runs.push_back(&run);
  }
  return groups;
}

ComparisonDocument compare_runs(std::string title, std::vector<ComparedRun> runs) {
  ComparisonDocument document{.title = std::move(title), .runs = std::move(runs), .tables = {}, .parity = {}, .figures = {}};
  if (document.runs.empty()) return document;
  const std::vector<Group> groups = groups_of(document.runs);
  for (const auto add : {add_setup, add_results, add_contrast, add_switches, add_scaling, add_limits, add_steps, add_input, add_servers,
                         add_ops, add_mean_resources, add_resource_extents, add_machines, add_traffic, add_epochs})
    add(groups, document.tables);
  add_figures(groups, document.figures);
  document.parity = parity_of(document.runs);
  return document;
}

ComparisonDocument compare_runs(std::string title, std::vector<RunDocument> runs) {
  std::vector<const RunDocument*> all;
  for (const RunDocument& run : runs) all.push_back(&run);
  const std::vector<Factor> factors = varying_factors(all);
  std::vector<ComparedRun> compared;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string label = label_of(factors, i, runs[i]);
    compared.push_back({.label = std::move(label), .document = std::move(runs[i]), .published = {}});
  }
  return compare_runs(std::move(title), std::move(compared));
}

std::string to_json(const ComparisonDocument& document) {
  Json json{{"version", 1},
            {"title", document.title},
            {"runs", Json::array()},
            {"tables", Json::array()},
            {"parity", Json::array()},
            {"figures", Json::array()}};
  for (const ComparedRun& run : document.runs) {
    Json one = json_of(run.document);
    one["label"] = run.label;
    one["published"] = run.published;
    json["runs"].push_back(std::move(one));
  }
  for (const Table& table : document.tables)
    json["tables"].push_back({{"title", table.title}, {"columns", table.columns}, {"rows", table.rows}, {"note", table.note}});
  for (const ParityNote& note : document.parity) json["parity"].push_back({{"severity", note.severity}, {"text", note.text}});
  for (const Figure& figure : document.figures) json["figures"].push_back(figure_json(figure));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trireme::report
