// SPDX-License-Identifier: Apache-2.0
// Scores against numbers computed by hand, and against the examples in scikit-learn's documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/report/scores/class_tally.h"
#include "trireme/report/scores/evaluation_json.h"
#include "trireme/report/scores/evaluation_text.h"
#include "trireme/report/scores/number_tally.h"

namespace trireme::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Each sample answered with certainty.
ClassTally tally_of(std::int64_t classes, const std::vector<std::pair<int, int>>& labels_and_answers) {
  ClassTally tally(classes);
  for (const auto& [label, answer] : labels_and_answers) {
    std::vector<float> outputs(static_cast<std::size_t>(classes));
    outputs[static_cast<std::size_t>(answer)] = 1;
    tally.add(label, outputs);
  }
  return tally;
}

// y_true = [0, 1, 2, 0, 1, 2], y_pred = [0, 2, 1, 0, 0, 1]; precision_recall_fscore_support(..., zero_division=0).
const std::vector<std::pair<int, int>> kExample{{0, 0}, {1, 2}, {2, 1}, {0, 0}, {1, 0}, {2, 1}};

TEST(ClassTally, HasTheNumbersOfScikitLearn) {
  const ClassEvaluation e = tally_of(3, kExample).finish({"ash", "beech"});
  EXPECT_NEAR(e.accuracy, 2.0 / 6, 1e-12);
  EXPECT_NEAR(e.classes[0].precision, 2.0 / 3, 1e-12);
  EXPECT_NEAR(e.classes[0].recall, 1, 1e-12);
  EXPECT_NEAR(e.classes[0].f1, 0.8, 1e-12);
  EXPECT_EQ(e.classes[1].f1, 0);
  EXPECT_EQ(e.classes[2].support, 2);
  EXPECT_NEAR(e.macro.precision, 0.2222, 5e-5);
  EXPECT_NEAR(e.macro.recall, 0.3333, 5e-5);
  EXPECT_NEAR(e.macro.f1, 0.2667, 5e-5);
  EXPECT_EQ(e.classes[0].name, "ash");
  EXPECT_EQ(e.classes[2].name, "2");
}

TEST(ClassTally, WeighsBySupport) {
  // a: 3 samples, 2 right; b: 1 sample, right, and once answered wrongly. precision a 1, b 1/2; recall a 2/3, b 1.
  const ClassEvaluation e = tally_of(2, {{0, 0}, {0, 0}, {0, 1}, {1, 1}}).finish({});
  EXPECT_NEAR(e.weighted.precision, (3 * 1.0 + 1 * 0.5) / 4, 1e-12);
  EXPECT_NEAR(e.weighted.recall, 0.75, 1e-12);
  EXPECT_NEAR(e.weighted.f1, (3 * 0.8 + 2.0 / 3) / 4, 1e-12);
}

TEST(ClassTally, AClassThatNeverOccursCountsInNoMean) {
  const ClassEvaluation e = tally_of(4, kExample).finish({});
  EXPECT_FALSE(e.classes[3].occurs());
  EXPECT_EQ(e.classes[3].precision, 0);
  EXPECT_NEAR(e.macro.f1, 0.2667, 5e-5);
}

TEST(ClassTally, OnlyManyClassesHaveATopFive) {
  EXPECT_EQ(tally_of(5, {{0, 0}}).finish({}).k, 0);
  ClassTally tally(7);
  const std::array<float, 7> outputs{0.7F, 0.6F, 0.5F, 0.4F, 0.3F, 0.2F, 0.1F};
  tally.add(0, outputs);
  tally.add(4, outputs);
  tally.add(5, outputs);
  const std::array<float, 7> equal{};
  tally.add(4, equal);  // of equal outputs those before it come first: it is the fifth
  const ClassEvaluation e = tally.finish({});
  EXPECT_EQ(e.k, 5);
  EXPECT_NEAR(e.top_k_accuracy, 0.75, 1e-12);
  EXPECT_NEAR(e.accuracy, 0.25, 1e-12);
}

TEST(ClassTally, RefusesALabelThatIsNoClass) {
  ClassTally tally(2);
  const std::array<float, 2> outputs{0, 1};
  EXPECT_THROW(tally.add(2, outputs), Error);
  EXPECT_THROW(tally.add(-1, outputs), Error);
}

TEST(ClassTally, NamesWhatIsConfusedMost) {
  const ClassEvaluation e = tally_of(3, kExample).finish({});
  const auto cells = most_confused(e, 2);
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0].label, 2);
  EXPECT_EQ(cells[0].answer, 1);
  EXPECT_EQ(cells[0].count, 2);
  EXPECT_EQ(weakest_classes(e, 5), (std::vector<std::size_t>{1, 2, 0}));
}

TEST(NumberTally, HasTheNumbersOfScikitLearn) {
  NumberTally one(1);
  const std::array<float, 4> truth{3, -0.5F, 2, 7}, answer{2.5F, 0, 2, 8};
  for (std::size_t i = 0; i < truth.size(); ++i) one.add(std::span(truth).subspan(i, 1), std::span(answer).subspan(i, 1));
  EXPECT_NEAR(one.finish().mean.mean_absolute_error, 0.5, 1e-12);
  EXPECT_NEAR(one.finish().mean.root_mean_squared_error, std::sqrt(0.375), 1e-12);
  EXPECT_NEAR(one.finish().mean.r_squared, 0.948608, 1e-6);

  NumberTally two(2);
  const std::array<std::array<float, 2>, 3> truths{{{0.5F, 1}, {-1, 1}, {7, -6}}}, answers{{{0, 2}, {-1, 2}, {8, -5}}};
  for (std::size_t i = 0; i < truths.size(); ++i) two.add(truths[i], answers[i]);
  EXPECT_NEAR(two.finish().mean.mean_absolute_error, 0.75, 1e-12);
  EXPECT_NEAR(two.finish().mean.root_mean_squared_error, 0.8227, 5e-5);
  EXPECT_NEAR(two.finish().mean.r_squared, 0.936801, 1e-6);
  EXPECT_NEAR(two.finish().targets[1].r_squared, 0.908163, 1e-6);
}

TEST(NumberTally, OfAConstantTargetAndOfOneSample) {
  const std::array<float, 1> five{5}, six{6};
  NumberTally right(1), wrong(1), single(1);
  for (int i = 0; i < 3; ++i) {
    right.add(five, five);
    wrong.add(five, six);
  }
  single.add(five, six);
  EXPECT_EQ(right.finish().mean.r_squared, 1);
  EXPECT_EQ(wrong.finish().mean.r_squared, 0);
  EXPECT_TRUE(std::isnan(single.finish().mean.r_squared));
}

TEST(NumberTally, LargeTargetsKeepTheirDigits) {
  NumberTally tally(1);
  for (const float offset : {0.0F, 1.0F, 2.0F, 3.0F}) {
    const std::array<float, 1> truth{8'000'000.0F + offset}, answer{8'000'000.0F + offset + (offset == 0 ? 1.0F : 0.0F)};
    tally.add(truth, answer);
  }
  EXPECT_NEAR(tally.finish().mean.r_squared, 1 - 1.0 / 5, 1e-9);
}

Evaluation example_evaluation() {
  Evaluation e{.part = "test",
               .checkpoint = "step-00000012",
               .weights = "best",
               .samples = 6,
               .of = 8,
               .seconds = 0.5,
               .loss = 1.25,
               .classes = {},
               .numbers = {}};
  e.classes = tally_of(7, kExample).finish({"ash", "beech", "cedar"});
  return e;
}

TEST(EvaluationJson, ComesBackAsItWas) {
  const Evaluation e = example_evaluation();
  const Evaluation back = evaluation_of(parse_json(json_of(e).dump()));
  EXPECT_EQ(json_of(back), json_of(e));
  EXPECT_EQ(back.classes->confusions.size(), e.classes->confusions.size());
  EXPECT_EQ(json_of(e)["confusion"][2][1], 2);
  EXPECT_EQ(json_of(e)["classes"][1]["name"], "beech");

  Evaluation numbers{.part = "validation",
                     .checkpoint = "",
                     .weights = "last",
                     .samples = 1,
                     .of = 1,
                     .seconds = 0,
                     .loss = 0,
                     .classes = {},
                     .numbers = {}};
  const std::array<float, 1> five{5};
  NumberTally tally(1);
  tally.add(five, five);
  numbers.numbers = tally.finish();
  const Evaluation again = evaluation_of(parse_json(json_of(numbers).dump()));
  EXPECT_TRUE(std::isnan(again.numbers->mean.r_squared));  // null between the two
}

TEST(EvaluationJson, OfVeryManyClassesItHasOnlyTheMostConfused) {
  Evaluation e = example_evaluation();
  e.classes = tally_of(1000, {{0, 999}, {0, 999}, {5, 5}, {7, 8}}).finish({});
  const Json json = json_of(e);
  EXPECT_TRUE(json["confusion"].is_null());
  EXPECT_EQ(json["confused"].size(), 2U);
  EXPECT_EQ(json["confused"][0]["answer"], 999);
  EXPECT_EQ(evaluation_of(json).classes->confusions.size(), 2U);
}

TEST(EvaluationJson, AnotherFileIsRefused) {
  EXPECT_THROW(evaluation_of(Json{{"a", 1}}), Error);
  Json json = json_of(example_evaluation());
  json["confusion"] = nullptr;
  json["confused"] = Json::array({{{"label", 700}, {"answer", 0}, {"count", 1}}});
  EXPECT_THROW(evaluation_of(json), Error);
}

TEST(EvaluationText, ShowsTableMatrixAndConfusions) {
  const Evaluation e = example_evaluation();
  EXPECT_EQ(headline(e), "accuracy 33.33 %  top-5 100.00 %");
  EXPECT_THAT(to_text(e), AllOf(HasSubstr("ash                       0.6667  1.0000  0.8000        2"), HasSubstr("confusion matrix"),
                                HasSubstr("cedar  beech            2       100.0 %")));
}

TEST(EvaluationText, OfManyClassesTheWeakest) {
  std::vector<std::pair<int, int>> all;
  for (int i = 0; i < 100; ++i) all.emplace_back(i, i == 42 ? 43 : i);
  Evaluation e = example_evaluation();
  e.classes = tally_of(100, all).finish({});
  EXPECT_THAT(to_text(e), AllOf(HasSubstr("the 10 weakest of 100 classes"), HasSubstr("42     43"), Not(HasSubstr("confusion matrix"))));
}

}  // namespace
}  // namespace trireme::report
