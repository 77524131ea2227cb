// SPDX-License-Identifier: Apache-2.0
// Tests of the search's answer as text: a point, no difference, no point.
#include "trireme/experiment/search_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/json.h"

namespace trireme::experiment {
namespace {

using testing::HasSubstr;

SearchReport report_of(const std::vector<std::pair<int, Sample>>& differences) {
  SearchReport report{.job = "job",
                      .from = "allreduce",
                      .to = "ps:async",
                      .nodes = 5,
                      .grid = 8,
                      .rule = {.tolerance = 0.02, .confidence = 0.95},
                      .is_tolerance_given = false,
                      .baselines = {{0.90, 0.91, 0.92}},
                      .baseline_seconds = {{100, 100, 100}},
                      .points = {},
                      .seconds = 4000};
  for (const auto& [at, values] : differences)
    report.points.push_back({.judged = judge(at, values, report.rule), .accuracies = {{0.8}}, .training_seconds = {{50}}, .diverged = 0});
  return report;
}

TEST(SearchReport, StatesThePointAndWhatIsCertain) {
  const SearchReport report =
      report_of({{0, {{0.2, 0.21, 0.2}}}, {4, {{0.0, 0.001, 0.0}}}, {2, {{0.1, 0.1, 0.11}}}, {3, {{0.0, 0.05, 0.0}}}});
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("accuracy 0.9100 ± 0.0100 over 3 seeds; tolerance 0.0200, twice that spread"));
  EXPECT_THAT(text, HasSubstr("switch at 37.5 %: the earliest point tried"));
  EXPECT_THAT(text, HasSubstr("cannot tell, rather reached"));
  EXPECT_THAT(text, HasSubstr("lies after 25 %, at 50 % at the latest"));
  EXPECT_THAT(text, HasSubstr("the search took 1:06:40"));
  const auto json = parse_json(to_json(report));
  EXPECT_EQ(json["switch_at"], 0.375);
  EXPECT_EQ(json["last_missed"], 0.25);
  EXPECT_EQ(json["points"][1]["outcome"], "reached");
}

TEST(SearchReport, NoDifferenceIsAnAnswerWithAMargin) {
  EXPECT_THAT(to_text(report_of({{0, {{0.001, 0.002, 0.003}}}})),
              HasSubstr("no difference found: ps:async from the beginning does as well within ±0.0037\n"));
  EXPECT_THAT(to_text(report_of({{0, {{-0.1, 0.1, 0.0}}}})), HasSubstr("takes more seeds to decide"));
}

TEST(SearchReport, NoPointIsAnAnswerToo) {
  const Sample lost{{0.2, 0.21, 0.2}};
  EXPECT_THAT(to_text(report_of({{0, lost}, {4, lost}, {6, lost}, {7, lost}})),
              HasSubstr("even at 87.5 % accuracy is lost; stay with allreduce"));
}

}  // namespace
}  // namespace trireme::experiment
