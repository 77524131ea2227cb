// SPDX-License-Identifier: Apache-2.0
// Tests of comparisons: labels, tables with computed differences, parity, and profiles of several nodes.
#include "trireme/report/compare/comparison_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/json.h"
#include "trireme/report/compare/factors.h"
#include "trireme/report/compare/parity.h"
#include "trireme/report/read/profile_part.h"
#include "trireme/report/read/run_reader.h"
#include "trireme/report/testing/made_run.h"
#include "trireme/report/write/markdown.h"

namespace trireme::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct Made {
  std::string strategy = "allreduce";
  double batch = 128;
  double seed = 1;
  double accuracy = 0.9;
  double seconds = 100;
  double updates = 422;
  double rate = 0.01;
  std::string model = "mlp";
};

RunDocument run_of(const Made& m) {
  RunDocument d;
  d.run.name = m.strategy;
  d.run.model = m.model;
  d.run.data = "mnist";
  d.run.strategy = m.strategy;
  d.run.batch_size = m.batch;
  d.run.seed = m.seed;
  d.run.samples = 54000;
  d.run.epochs = 2;
  d.run.workers = 3;
  d.run.threads = 1;
  d.run.parameters = 1000;
  d.run.state = "completed";
  d.run.config = {{.key = "train.seed", .value = std::to_string(m.seed)}, {.key = "train.optimizer.name", .value = "sgd"}};
  d.stretches = {{.strategy = m.strategy, .workers = 3, .steps = 10}};
  d.result = {.training_accuracy = m.accuracy + 0.05,
              .training_loss = 0.1,
              .accuracy = m.accuracy,
              .loss = 0.2,
              .measured_on = "test",
              .measured_samples = 10000,
              .penalty = 0,
              .seconds = m.seconds,
              .training_seconds = m.seconds / 2,
              .updates_per_epoch = m.updates,
              .highest_rate = m.rate,
              .rate_per_sample = m.rate * m.updates / 54000};
  d.progress.samples_seen = 108000;
  d.steps.columns = {{"time", {1, 2}}, {"learning_rate", {m.rate, m.rate / 10}}};
  d.epochs.columns = {{"epoch", {1, 2}}, {"training_accuracy", {0.5, m.accuracy + 0.05}}, {"validation_accuracy", {0.4, m.accuracy}}};
  d.cluster.summary = {{"cpu", {.min = 0.1, .mean = 0.4, .max = 0.8}}, {"memory", {.min = 1e9, .mean = 2e9, .max = 3e9}}};
  d.anatomy = {.steps = 100,
               .step_seconds = 0.01,
               .parts = {{.name = "forward", .seconds = 0.006, .share = 0.6}, {.name = "exposed", .seconds = 0.004, .share = 0.4}},
               .beside = {{.name = "exchange", .seconds = 0.02, .share = 2}}};
  return d;
}

const Table* find_table(const ComparisonDocument& document, const std::string& title) {
  for (const Table& table : document.tables)
    if (table.title == title) return &table;
  return nullptr;
}

std::string texts(const std::vector<ParityNote>& notes) {
  std::string all;
  for (const ParityNote& note : notes) all += note.severity + ": " + note.text + "\n";
  return all;
}

TEST(Labels, AreMadeOfWhatVaries) {
  const ComparisonDocument document = compare_runs("t", std::vector<RunDocument>{run_of({}), run_of({.seed = 2}), run_of({.batch = 256}),
                                                                                 run_of({.strategy = "ps:async", .batch = 256})});
  std::vector<std::string> labels;
  for (const ComparedRun& run : document.runs) labels.push_back(run.label);
  EXPECT_THAT(labels, ElementsAre("allreduce, batch 128", "allreduce, batch 128", "allreduce, batch 256", "ps:async, batch 256"));
}

TEST(Labels, LeaveOutWhatAddsNothing) {
  const std::vector<Factor> factors{{.name = "model", .values = {"a", "b", "a"}},
                                    {.name = "model.depth", .values = {"8", "16", "8"}},
                                    {.name = "batch", .values = {"1", "1", "2"}}};
  EXPECT_EQ(label_of(factors, 1, {}), "b, batch 1");
  EXPECT_EQ(label_of(factors, 2, {}), "a, batch 2");
}

TEST(Tables, DifferencesAreComputedAndSeedsGiveSpreads) {
  const ComparisonDocument document =
      compare_runs("t", std::vector<RunDocument>{run_of({.accuracy = 0.98, .seconds = 173.895}),
                                                 run_of({.seed = 2, .accuracy = 0.99, .seconds = 173.895}),
                                                 run_of({.strategy = "ps:async", .accuracy = 0.975, .seconds = 144.703})});
  const Table* results = find_table(document, "Results");
  ASSERT_NE(results, nullptr);
  ASSERT_THAT(results->rows, SizeIs(2));
  EXPECT_EQ(results->rows[0][2], "0.9850 ± 0.0071");
  EXPECT_EQ(results->rows[0][8], "");
  EXPECT_EQ(results->rows[1][8], "-0.0100");
  EXPECT_EQ(results->rows[1][9], "-29.192");
  EXPECT_EQ(results->rows[1][10], "-17 %");
}

TEST(Tables, StrategiesStandAgainstEachOtherForEveryBatchAndModel) {
  std::vector<RunDocument> runs;
  for (const char* model : {"a", "b"})
    for (const double batch : {128.0, 256.0})
      for (const char* strategy : {"ps:async", "allreduce"})
        runs.push_back(run_of({.strategy = strategy, .batch = batch, .accuracy = strategy[0] == 'p' ? 0.9 : 0.95, .model = model}));
  const ComparisonDocument document = compare_runs("t", std::move(runs));
  const Table* table = find_table(document, "allreduce against ps:async");
  ASSERT_NE(table, nullptr);
  ASSERT_THAT(table->rows, SizeIs(4));
  EXPECT_THAT(table->columns, ElementsAre("model", "batch", "accuracy, ps:async", "accuracy, allreduce", "difference", "time (s), ps:async",
                                          "time (s), allreduce", "difference (s)", "difference (%)"));
  EXPECT_THAT(table->rows[3], ElementsAre("b", "256", "0.9000", "0.9500", "+0.0500", "100.0", "100.0", "+0.000", "0 %"));
}

TEST(Tables, NodesThatGoWithTheStrategyAreNoDifferenceOfTheirOwn) {
  std::vector<RunDocument> runs;
  for (const double batch : {128.0, 256.0})
    for (const char* strategy : {"ps:async", "allreduce"}) {
      runs.push_back(run_of({.strategy = strategy, .batch = batch}));
      runs.back().run.workers = strategy[0] == 'p' ? 4 : 3;
    }
  const ComparisonDocument document = compare_runs("t", std::move(runs));
  ASSERT_NE(find_table(document, "allreduce against ps:async"), nullptr);
  EXPECT_THAT(find_table(document, "allreduce against ps:async")->rows, SizeIs(2));
  EXPECT_EQ(find_table(document, "Speed by number of nodes"), nullptr);
}

TEST(Tables, SpeedStandsAgainstTheFewestNodes) {
  RunDocument alone = run_of({.strategy = "local", .seconds = 200});
  alone.run.workers = 1;
  alone.strategies = {{.strategy = "local", .exchange = StrategyFacts::Exchange::none}};
  const ComparisonDocument document = compare_runs("t", std::vector<RunDocument>{alone, run_of({.seconds = 100})});
  const Table* table = find_table(document, "Speed by number of nodes");
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->rows[1], ElementsAre("allreduce, 3 nodes", "3", "2160", "2.00", "67 %"));
}

TEST(Tables, RatiosStandBesideTheirShares) {
  RunDocument other = run_of({.strategy = "ps:async"});
  other.anatomy.parts[1].seconds = 0.012;
  const ComparisonDocument document = compare_runs("t", std::vector<RunDocument>{run_of({}), other});
  const Table* table = find_table(document, "Times of a step");
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->columns, ElementsAre("part", "allreduce (ms)", "allreduce (% of its step)", "ps:async (ms)",
                                          "ps:async (% of its step)", "ps:async / allreduce"));
  EXPECT_THAT(table->rows[1], ElementsAre("exchange: exposed, after backward", "4.000", "40.0", "12.000", "40.0", "3.00"));
  EXPECT_THAT(table->rows[2].front(), HasSubstr("submitted to finished"));
  const Table* means = find_table(document, "Mean use of the cluster");
  ASSERT_NE(means, nullptr);
  EXPECT_THAT(means->rows, ElementsAre(ElementsAre("CPU (%)", "40.0", "40.0"), ElementsAre("memory (GB)", "2.00", "2.00")));
  EXPECT_EQ(find_table(document, "Use of the cluster: min / mean / max")->rows[0][1], "10.0 / 40.0 / 80.0");
  EXPECT_EQ(find_table(document, "Operators"), nullptr);
  EXPECT_EQ(find_table(document, "Training accuracy after each epoch")->rows[1][1], "0.9500");
}

TEST(Tables, ASwitchStandsBesideItsTwoStrategies) {
  RunDocument mixed = run_of({.strategy = "ps:async", .accuracy = 0.92, .seconds = 90});
  mixed.run.config.insert(mixed.run.config.end(), {{.key = "strategy.name", .value = "switch"},
                                                   {.key = "strategy.from", .value = "allreduce"},
                                                   {.key = "strategy.to", .value = "ps:async"},
                                                   {.key = "strategy.at", .value = "0.25"}});
  const ComparisonDocument document =
      compare_runs("t", std::vector<RunDocument>{run_of({.accuracy = 0.94, .seconds = 120}),
                                                 run_of({.strategy = "ps:async", .accuracy = 0.9, .seconds = 80}), mixed});
  const Table* table = find_table(document, "Switches beside their two strategies");
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->rows, ElementsAre(ElementsAre("allreduce → ps:async at 0.25", "90.0", "90.0", "0 %", "0.9200", "50.0", "25.0")));
}

TEST(Parity, AlikeRunsHaveNothingToReport) {
  const ComparisonDocument document = compare_runs(
      "t",
      std::vector<RunDocument>{run_of({}), run_of({.seed = 2}), run_of({.strategy = "ps:bsp"}), run_of({.strategy = "ps:bsp", .seed = 2})});
  EXPECT_THAT(document.parity, IsEmpty()) << texts(document.parity);
}

TEST(Parity, UpdatesAndRatesThatDifferAreReported) {
  std::vector<ComparedRun> runs;
  runs.push_back({.label = "MW", .document = run_of({.updates = 47}), .published = {}});
  runs.push_back({.label = "PS", .document = run_of({.strategy = "ps:async", .updates = 422}), .published = {}});
  const std::string text = texts(parity_of(runs));
  EXPECT_THAT(text, HasSubstr("warning: MW makes 47 updates an epoch, PS 422: their accuracies differ for that reason too"));
  EXPECT_THAT(text, HasSubstr("the learning rate, summed over the updates, for each sample differs"));
  EXPECT_THAT(text, HasSubstr("note: some have one run only"));
  runs[1].document = run_of({.strategy = "ps:async", .updates = 470, .rate = 0.001});
  EXPECT_THAT(texts(parity_of(runs)), HasSubstr("summed over the updates it is the same for each sample"));
}

TEST(Parity, PenaltyDataAndSeedsThatDifferAreReported) {
  std::vector<ComparedRun> runs{{.label = "A", .document = run_of({}), .published = {}},
                                {.label = "B", .document = run_of({.strategy = "ps:bsp", .seed = 3}), .published = {}}};
  runs[1].document.result.penalty = 0.1;
  runs[0].document.run.config.push_back({.key = "data.normalize", .value = "mean"});
  runs[1].document.run.config.push_back({.key = "data.normalize", .value = "none"});
  runs[1].document.run.epochs = 3;
  runs[1].document.run.state = "died";
  const std::string text = texts(parity_of(runs));
  EXPECT_THAT(text, HasSubstr("not all minimise the same: A: no penalty; B: loss and penalty are minimised"));
  EXPECT_THAT(text, HasSubstr("data.normalize differs: A: mean; B: none"));
  EXPECT_THAT(text, HasSubstr("the number of epochs differs: A: 2; B: 3"));
  EXPECT_THAT(text, HasSubstr("the seeds differ: A: 1; B: 3"));
  EXPECT_THAT(text, HasSubstr("B (ps:bsp) did not train to its end: died"));
}

TEST(Parity, ModelsAreNotComparedWithOneAnother) {
  const std::string text = texts(parity_of({{.label = "A", .document = run_of({.updates = 10}), .published = {}},
                                            {.label = "B", .document = run_of({.updates = 99, .model = "cnn"}), .published = {}}}));
  EXPECT_THAT(text, Not(HasSubstr("updates")));
}

TEST(Reports, AreJsonAndMarkdown) {
  const ComparisonDocument document = compare_runs("both | ways", std::vector<RunDocument>{run_of({}), run_of({.strategy = "ps:async"})});
  const auto json = parse_json(to_json(document));
  EXPECT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][1]["label"], "ps:async");
  EXPECT_EQ(json["tables"][0]["columns"].size(), json["tables"][0]["rows"][0].size());
  EXPECT_EQ(json["figures"][0]["kind"], "lines");
  for (const auto& figure : json["figures"]) EXPECT_EQ(figure["x"].size(), figure["series"][0]["values"].size()) << figure["title"];
  const std::string text = to_markdown(document);
  EXPECT_THAT(text, HasSubstr("## May they be compared?"));
  EXPECT_THAT(text, HasSubstr("| run "));
  EXPECT_EQ(markdown_table({.columns = {"a", "b"}, .rows = {{"x|y", "1"}, {"ä", "22"}}}),
            "| a    |   b |\n|------|----:|\n| x\\|y |   1 |\n| ä    |  22 |\n");
}

TEST(Reports, OneRunHasItsSections) {
  const MadeRun made;
  made.begin(1'700'000'000);
  for (int step = 1; step <= 20; ++step) made.step(1'700'000'000 + 0.1 * step, step, 2.0 / step);
  made.epoch(1'700'000'001, 1, 0.5);
  made.epoch(1'700'000'002, 2, 0.7);
  made.machine(1'700'000'001, "lab1", 0.5, 1e9);
  made.end(1'700'000'003);
  made.append("profile/0.jsonl",
              R"({"type":"meta","node":"0","steps":10,"step_seconds":0.1})"
              "\n"
              R"({"type":"span","name":"x"})"
              "\n"
              R"({"type":"op","name":"conv","category":"convolution","pass":"forward","calls":10,"seconds":0.04,"spread":0.01,"share":0.4})"
              "\n"
              R"({"type":"category","category":"convolution","seconds":0.04,"spread":0.01,"share":0.4})"
              "\n");
  const std::string text = to_markdown(read_run(made.path()));
  for (const char* title : {"## Results", "## What limited it", "## Where a step's time goes", "## Use of the machines", "## Operators",
                            "## Curves", "## What happened", "## Configuration"})
    EXPECT_THAT(text, HasSubstr(title));
  EXPECT_THAT(text, HasSubstr("| conv"));
  EXPECT_THAT(text, HasSubstr("▁"));
  EXPECT_THAT(text, HasSubstr("2023-11-14"));
}

TEST(Profiles, OfSeveralNodesAreWeightedBySteps) {
  const OpProfile a{.steps = 10, .categories = {}, .ops = {{.name = "conv", .pass = "forward", .seconds = 0.1, .spread = 0, .share = 0.5}}};
  const OpProfile b{.steps = 30,
                    .categories = {},
                    .ops = {{.name = "conv", .pass = "forward", .seconds = 0.2, .spread = 0, .share = 0.5},
                            {.name = "conv", .pass = "backward", .seconds = 0.4, .spread = 0, .share = 0.5}}};
  const OpProfile all = joined({a, b});
  EXPECT_EQ(all.steps, 40);
  ASSERT_THAT(all.ops, SizeIs(2));
  EXPECT_DOUBLE_EQ(all.ops[0].seconds, 0.3);
  EXPECT_DOUBLE_EQ(all.ops[1].seconds, 0.175);
  EXPECT_NEAR(all.ops[1].spread, 0.0433, 1e-4);
}

TEST(Profiles, ASectionOfAServerWithoutStepsTakesNothingAway) {
  const MadeRun made;
  constexpr const char* kOp =
      R"({"type":"op","name":"conv","category":"convolution","pass":"forward","calls":10,"seconds":0.04,"spread":0.01,"share":0.4})"
      "\n";
  made.append("profile/0.jsonl", std::string(R"({"type":"meta","node":"0","steps":10,"step_seconds":0.1})") + "\n" + kOp);
  made.append("profile/0.jsonl", std::string(R"({"type":"meta","node":"0","steps":30,"step_seconds":0.1})") + "\n" + kOp);
  made.append("profile/0.jsonl", "{\"type\":\"meta\",\"node\":\"0\",\"steps\":0}\n{\"type\":\"span\",\"name\":\"apply\"}\n");
  ProfilePart part;
  part.look(made.path() / "profile");
  ASSERT_TRUE(part.profile().has_value());
  EXPECT_EQ(part.profile()->steps, 40);
  ASSERT_THAT(part.profile()->ops, SizeIs(1));
  EXPECT_DOUBLE_EQ(part.profile()->ops[0].seconds, 0.04);
}

TEST(Sparkline, HasOneBlockForEachBin) {
  EXPECT_EQ(sparkline({0, 1}, 10), "▁█");
  EXPECT_EQ(sparkline({0, 0, 1, 1}, 2), "▁█");
  EXPECT_EQ(sparkline({1}, 10), "");
  EXPECT_EQ(sparkline({2, 2, 2}, 10), "▁▁▁");
}

}  // namespace
}  // namespace trireme::report
