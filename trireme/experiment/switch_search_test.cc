// SPDX-License-Identifier: Apache-2.0
// The search over numbers that were published or made up.
#include "trireme/experiment/switch_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace trireme::experiment {
namespace {

using testing::ElementsAre;

struct Searched {
  std::vector<int> points;
  SearchAnswer answer;
};

// `differences` by point; the search must ask for no other.
Searched search(const std::map<int, Sample>& differences, int grid, const SearchRule& rule) {
  std::vector<TriedPoint> tried;
  Searched searched;
  while (const auto point = next_point(tried, grid)) {
    tried.push_back(judge(*point, differences.at(*point), rule));
    searched.points.push_back(*point);
  }
  searched.answer = answer_of(tried, grid);
  return searched;
}

Sample always(double difference) { return {{difference, difference}}; }

// Sync-Switch, ResNet50 on CIFAR-100: BSP .7462; 50 % .7425, 25 % .7505, 12.5 % .7460, 6.25 % .7325, ASP .7085.
std::map<int, Sample> cifar100() {
  std::map<int, Sample> differences;
  const std::map<int, double> accuracies{{8, 0.7425}, {4, 0.7505}, {2, 0.7460}, {1, 0.7325}, {0, 0.7085}, {12, 0.7425}};
  for (const auto& [point, accuracy] : accuracies) differences[point] = always(0.7462 - accuracy);
  return differences;
}

TEST(SwitchSearch, FindsWhatSyncSwitchFoundOnCifar100) {
  for (const double tolerance : {0.0038, 0.006, 0.01, 0.0136}) {
    const Searched searched = search(cifar100(), 16, {.tolerance = tolerance, .confidence = 0.95});
    EXPECT_EQ(searched.answer.point, 2) << "12.5 % with a tolerance of " << tolerance;
    EXPECT_EQ(searched.answer.first_reached, 2);
    EXPECT_EQ(searched.answer.last_missed, 1);
    EXPECT_THAT(searched.points, ElementsAre(0, 8, 4, 2, 1));
  }
  EXPECT_EQ(search(cifar100(), 16, {.tolerance = 0.0138, .confidence = 0.95}).answer.point, 1);
  EXPECT_GT(search(cifar100(), 2, {.tolerance = 0.0036, .confidence = 0.95}).answer.point, 1) << "50 % is not enough";
}

TEST(SwitchSearch, TheToleranceIsTheSpreadOfTheBaselinesButNotBelowWhatCanBeMeasured) {
  EXPECT_NEAR(tolerance_from({{0.90, 0.91, 0.92}}, 10000), 0.02, 1e-12);
  EXPECT_NEAR(tolerance_from({{0.90, 0.90}}, 10000), 0.003, 1e-12);
}

TEST(SwitchSearch, ThreeOutcomes) {
  const SearchRule rule{.tolerance = 0.01, .confidence = 0.95};
  EXPECT_EQ(judge(1, {{0.001, 0.002, 0.003}}, rule).outcome, SearchOutcome::reached);
  EXPECT_EQ(judge(1, {{0.05, 0.06, 0.055}}, rule).outcome, SearchOutcome::missed);
  EXPECT_EQ(judge(1, {{0.0, 0.02, -0.01}}, rule).outcome, SearchOutcome::unclear);
  // Surely worse, but surely by less than the tolerance.
  EXPECT_EQ(judge(1, {{0.0050, 0.0051, 0.0052}}, rule).outcome, SearchOutcome::reached);
  // The mean is within the tolerance, and something is surely lost: maybe too much.
  const TriedPoint near = judge(1, {{0.006, 0.009, 0.012}}, rule);
  EXPECT_EQ(near.outcome, SearchOutcome::unclear);
  EXPECT_TRUE(near.leans_to_reached);
}

TEST(SwitchSearch, OneSeedMakesNothingCertainButLeads) {
  const SearchRule rule{.tolerance = 0.01, .confidence = 0.95};
  EXPECT_EQ(judge(1, {{0.0}}, rule).outcome, SearchOutcome::unclear);
  const Searched searched = search({{0, {{0.2}}}, {2, {{0.0}}}, {1, {{0.05}}}}, 4, rule);
  EXPECT_EQ(searched.answer.point, 2);
  EXPECT_EQ(searched.answer.last_missed, -1);
  EXPECT_EQ(searched.answer.first_reached, 4);
}

TEST(SwitchSearch, IfTheSecondStrategyAloneDoesAsWellNothingElseIsTried) {
  const Searched searched = search({{0, always(0.001)}}, 8, {.tolerance = 0.01, .confidence = 0.95});
  EXPECT_THAT(searched.points, ElementsAre(0));
  EXPECT_TRUE(searched.answer.is_same);
}

TEST(SwitchSearch, IfNoPointIsEnoughTheAnswerIsTheEnd) {
  const Searched searched =
      search({{0, always(0.3)}, {4, always(0.2)}, {6, always(0.1)}, {7, always(0.05)}}, 8, {.tolerance = 0.01, .confidence = 0.95});
  EXPECT_THAT(searched.points, ElementsAre(0, 4, 6, 7));
  EXPECT_EQ(searched.answer.point, 8);
  EXPECT_EQ(searched.answer.last_missed, 7);
  EXPECT_FALSE(searched.answer.is_same);
}

TEST(SwitchSearch, AnUnclearPointLeadsOnByItsMeanAndStaysInsideTheInterval) {
  const Searched searched = search({{0, always(0.3)}, {4, {{-0.02, 0.02, 0.01}}}, {2, always(0.1)}, {3, always(0.001)}}, 8,
                                   {.tolerance = 0.012, .confidence = 0.95});
  EXPECT_THAT(searched.points, ElementsAre(0, 4, 2, 3));
  EXPECT_EQ(searched.answer.point, 3);
  EXPECT_EQ(searched.answer.last_missed, 2);
  EXPECT_EQ(searched.answer.first_reached, 3);
}

}  // namespace
}  // namespace trireme::experiment
