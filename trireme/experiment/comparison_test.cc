// SPDX-License-Identifier: Apache-2.0
// Orders and verdicts from numbers, and the tables made of them.
#include "trireme/experiment/comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/json.h"

namespace trireme::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

VariantRuns runs_of(const std::string& label, const std::string& job, const std::vector<std::pair<double, double>>& accuracy_and_seconds,
                    std::map<std::string, double> published = {}) {
  VariantRuns runs{.variant = {.label = label,
                               .folder = folder_name(label),
                               .nodes = 2,
                               .job = Config::parse_toml(job, "job"),
                               .published = std::move(published)},
                   .cells = {}};
  for (const auto& [accuracy, seconds] : accuracy_and_seconds) {
    FinishedRun run{.directory = "run", .summary = {}, .use = {}};
    run.summary.is_complete = true;
    run.summary.accuracy = accuracy;
    run.summary.seconds = seconds;
    run.summary.epochs = {{.epoch = 1, .accuracy = accuracy, .seconds = seconds}};
    runs.cells.push_back({.seed = static_cast<std::int64_t>(runs.cells.size()) + 1, .folder = "f", .run = run, .failure = {}});
  }
  return runs;
}

Comparison three() {
  return {.experiment = {.title = "three", .seeds = {1, 2}, .variants = {}},
          .runs = {
              runs_of("MW", "strategy = { name = 'allreduce' }", {{0.92, 100}, {0.93, 102}}, {{"accuracy", 0.92}, {"seconds", 1000}}),
              runs_of("PS", "strategy = { name = 'ps', servers = 0 }", {{0.80, 60}, {0.81, 61}}, {{"accuracy", 0.90}, {"seconds", 800}}),
              runs_of("SS", "train = { epochs = 4 }\nstrategy = { name = 'switch', from = 'allreduce', to = 'ps:async,servers=2', at = 1 }",
                      {{0.925, 71}, {0.926, 72}}, {{"accuracy", 0.91}, {"seconds", 820}})}};
}

TEST(Comparison, RanksAndSaysWhatIsWithinTheSpread) {
  const Ranking ranking = rank({{{0.92, 0.93}}, {{0.80, 0.81}}, {{0.926, 0.927}}, {}}, Best::most);
  EXPECT_THAT(ranking.order, ElementsAre(2, 0, 1));
  EXPECT_THAT(ranking.relations, ElementsAre(Relation::similar, Relation::better));
  const Ranking once = rank({{{3}}, {{1}}}, Best::least);
  EXPECT_THAT(once.order, ElementsAre(1, 0));
  EXPECT_THAT(once.relations, ElementsAre(Relation::better_once));
}

TEST(Comparison, EachPublishedOrderIsConfirmedOrNot) {
  const std::vector<Sample> samples{{{10, 11}}, {{20, 21}}, {{20.4, 21.2}}};
  const auto pairs = check_pairs(samples, {2, 1, 3}, Best::most);
  ASSERT_EQ(pairs.size(), 3U);
  for (const Pair& pair : pairs) {
    const Verdict wanted = pair.better == 0 ? Verdict::disagrees : pair.worse == 0 ? Verdict::agrees : Verdict::unclear;
    EXPECT_EQ(pair.verdict, wanted) << pair.better << " " << pair.worse;
  }
  EXPECT_TRUE(check_pairs(samples, {kUnknown, kUnknown, 3}, Best::most).empty());
}

TEST(Comparison, TheTimeOfASwitchStandsBesideTheMixOfBoth) {
  const auto list = mixes(three().runs);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_DOUBLE_EQ(list[0].fraction, 0.25) << "at = 1 of 4 epochs";
  EXPECT_DOUBLE_EQ(list[0].expected, 0.25 * 101 + 0.75 * 60.5);
  EXPECT_DOUBLE_EQ(list[0].seconds, 71.5);
}

TEST(Comparison, TheTableHasMeansOrdersAndWhatWasPublished) {
  const std::string text = to_text(three(), TableStyle::text);
  for (const char* words : {"92.50 % ± 0.71", "0:01:41 ± 1.4 s", "accuracy, best first: SS ≈ MW > PS", "published: MW > SS > PS",
                            "time, fastest first: PS < SS < MW", "pairs that agree: PS < MW, PS < SS, SS < MW",
                            "pairs that can't be told: MW > SS", "0.25 · MW + 0.75 · PS = 0:01:11"})
    EXPECT_THAT(text, HasSubstr(words));
  EXPECT_THAT(text, Not(HasSubstr("Staleness"))) << "a row without any known value";
  EXPECT_THAT(to_text(three(), TableStyle::markdown), HasSubstr("| Validation accuracy | 92.50 % ± 0.71 |"));
}

TEST(Comparison, ManyVariantsStandBelowOneAnother) {
  Comparison many = three();
  for (int i = 0; i < 5; ++i)
    many.runs.push_back(runs_of(fmt::format("V{}", i), "", {{0.5 + 0.01 * i, 10.0 + i}}, {{"accuracy", 0.5 - 0.01 * i}, {"seconds", 10}}));
  const std::string text = to_text(many, TableStyle::markdown);
  EXPECT_THAT(text, HasSubstr("| variant | Validation accuracy | published |"));
  EXPECT_THAT(text, HasSubstr("| V4 | 54.00 % |"));
  EXPECT_THAT(text, HasSubstr("pairs that agree (one run each: no spread): "));
  EXPECT_THAT(to_text(many, TableStyle::text), HasSubstr("V4"));
}

TEST(Comparison, WhatIsMissingOrFailedIsSaid) {
  Comparison comparison = three();
  comparison.runs[0].cells[1].run.reset();
  for (RunCell& cell : comparison.runs[1].cells) cell = {.seed = cell.seed, .folder = "f", .run = {}, .failure = "exited with code 1"};
  EXPECT_FALSE(comparison.is_whole());
  const std::string text = to_text(comparison, TableStyle::text);
  EXPECT_THAT(text, HasSubstr("92.00 % (1 of 2)"));
  EXPECT_THAT(text, HasSubstr("failed: PS, seed 2: exited with code 1"));
  EXPECT_THAT(text, HasSubstr("one run each: no spread"));
  const auto json = parse_json(to_json(comparison));
  EXPECT_EQ(json["variants"][0]["runs"][1]["state"], "missing");
  EXPECT_EQ(json["variants"][1]["runs"][0]["state"], "failed");
  EXPECT_TRUE(json["variants"][1]["metrics"]["accuracy"]["mean"].is_null());
}

TEST(Comparison, CurvesHaveALineForEachEpoch) {
  const std::string curves = to_curves(three());
  EXPECT_THAT(curves, HasSubstr("\"SS\",2,1,,,,0.926,72\n"));
}

}  // namespace
}  // namespace trireme::experiment
