// SPDX-License-Identifier: Apache-2.0
// Profiled steps of a real training: the sums are the steps' time, the counts are right, and the weights are those of an unwatched one.
#include "trireme/train/loop/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "trireme/base/json.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/telemetry/profile_recorder.h"
#include "trireme/train/testing/job.h"

namespace trireme::train {
namespace {

struct Profiled {
  explicit Profiled(const std::vector<std::string>& settings, const std::filesystem::path& cache = {})
      : job(job_with(std::string(kDigitsJob) + "momentum = 0.9\n", settings)), data(data::open_data(job.data, testing::TempDir())) {
    Memory memory;
    Profiler profiler(parse_profile(job.observe.profile), [this](ProfileData given) { profiles.push_back(std::move(given)); });
    Trainer trainer({.job = job, .data = data, .clock = clock, .profiler = &profiler}, cache);
    run_to_end(trainer, memory);
    delivered_before_end = profiles.size();
    profiler.finish();
    parameters.assign(trainer.replica().parameters().begin(), trainer.replica().parameters().end());
  }

  SteadyClock clock;
  Job job;
  data::DataSets data;
  std::vector<ProfileData> profiles;
  std::size_t delivered_before_end = 0;
  std::vector<float> parameters;
};

double sum_of_rows(const OpProfile& ops, std::string_view pass = "") {
  double sum = 0;
  for (const auto& [key, row] : ops.rows())
    if (!row.is_beside && (pass.empty() || std::get<2>(key) == pass)) sum += row.wall.mean(ops.steps());
  return sum;
}

struct Case {
  std::vector<std::string> settings;
  std::string name;
};
class ProfileOf : public testing::TestWithParam<Case> {};

TEST_P(ProfileOf, RowsMakeUpTheSteps) {
  std::vector<std::string> settings = GetParam().settings;
  settings.emplace_back("observe.profile='steps 2-3'");
  const Profiled run(settings);
  ASSERT_EQ(run.profiles.size(), 1U);
  const OpProfile& ops = run.profiles[0].ops;
  EXPECT_EQ(ops.steps(), 2);
  EXPECT_NEAR(sum_of_rows(ops) / ops.step_seconds(), 1, 0.02);
  double computed = 0;
  for (const observe::Span& span : run.profiles[0].spans.spans)
    if (span.name == "forward" || span.name == "backward") computed += (span.end - span.begin) / 2;
  EXPECT_NEAR((sum_of_rows(ops, "forward") + sum_of_rows(ops, "backward")) / computed, 1, 0.02);
  double categories = 0;
  for (const auto& [category, seconds] : ops.categories()) categories += seconds.mean(ops.steps());
  EXPECT_NEAR(categories / ops.step_seconds(), 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Models, ProfileOf,
                         testing::Values(Case{{"train.threads=1"}, "mlp_1"}, Case{{"train.threads=2"}, "mlp_2"},
                                         Case{{"model={name='resnet',depth=8}", "data={name='synthetic_images',samples=24,test_samples=8}",
                                               "train.batch_size=8", "train.epochs=1", "train.threads=2"},
                                              "resnet_2"},
                                         Case{{"model={name='densenet',depth=10}",
                                               "data={name='synthetic_digits',samples=24,test_samples=8}", "train.batch_size=8",
                                               "train.epochs=1", "train.threads=1"},
                                              "densenet_1"}),
                         [](const auto& of) { return of.param.name; });

TEST(Profile, CountsCallsOfEachOp) {
  const Profiled run({"observe.profile='steps 3-6'"});
  ASSERT_EQ(run.profiles.size(), 1U);
  const auto& rows = run.profiles[0].ops.rows();
  int dense = 0;
  for (const auto& [key, row] : rows) {
    const auto& [name, category, pass] = key;
    if (category != "dense") continue;
    ++dense;
    const bool is_first = name == "dense_1";  // its input needs no gradient
    EXPECT_EQ(row.calls, pass == "forward" || is_first ? 4 : 8) << name << " " << pass;
    EXPECT_GT(row.flops, 0) << name << " " << pass;
    EXPECT_GT(row.bytes, 0);
  }
  EXPECT_EQ(dense, 6);
  EXPECT_EQ(rows.at({"optimizer", "optimizer", "update"}).calls, 4);
  EXPECT_EQ(rows.at({"input wait", "data", "input"}).calls, 4);
}

TEST(Profile, OfEpochsComesWhenTheNextBeginsOrWithTheEnd) {
  const Profiled first({"observe.profile='epochs 1'"});
  EXPECT_EQ(first.delivered_before_end, 1U);
  ASSERT_EQ(first.profiles.size(), 1U);
  EXPECT_EQ(first.profiles[0].ops.steps(), 5);
  const Profiled last({"observe.profile='epochs 2-3'"});
  EXPECT_EQ(last.delivered_before_end, 0U);
  ASSERT_EQ(last.profiles.size(), 1U);
  EXPECT_EQ(last.profiles[0].first_step, 6);
  EXPECT_EQ(last.profiles[0].last_step, 10);
  EXPECT_TRUE(Profiled({}).profiles.empty());
}

TEST(Profile, ChangesNoBitOfATraining) {
  const std::filesystem::path cache = std::filesystem::path(testing::TempDir()) / fmt::format("profiler_test_{}.json", ::getpid());
  const Profiled plain({}, cache);
  const Profiled watched({"observe.profile='epochs 1-2'"}, cache);
  EXPECT_EQ(plain.parameters, watched.parameters);
  std::filesystem::remove(cache);
}

TEST(ProfileLines, AreJsonWithOneMetaAndNothingForgotten) {
  const Profiled run({"observe.profile='steps 3-6'"});
  const std::string text =
      profile_lines(run.profiles.at(0), {.node = "1", .host = "a \"b\"", .rank = 1, .own_time = 1e9, .clock_offset = 2});
  std::istringstream in(text);
  std::map<std::string, int> types;
  for (std::string line; std::getline(in, line);) {
    const Json json = parse_json(line);
    ++types[json.at("type")];
    if (json.at("type") == "span") {
      EXPECT_GE(json.at("begin_ns").get<std::int64_t>(), 1'000'000'000'000'000'000);
      EXPECT_GE(json.at("end_ns").get<std::int64_t>(), json.at("begin_ns").get<std::int64_t>());
    }
    if (json.at("type") == "meta") {
      EXPECT_EQ(json.at("host"), "a \"b\"");
      EXPECT_EQ(json.at("steps"), 4);
    }
  }
  EXPECT_EQ(types["meta"], 1);
  EXPECT_EQ(types["span"], static_cast<int>(run.profiles[0].spans.spans.size()));
  EXPECT_EQ(types["op"], static_cast<int>(run.profiles[0].ops.rows().size()));
}

TEST(ProfileLines, GoInPiecesThatTearNoLine) {
  std::string text;
  for (int i = 0; i < 60000; ++i) text += fmt::format("line {} of many that are rather long\n", i);
  std::string together;
  const auto pieces = pieces_of_lines(text);
  EXPECT_GT(pieces.size(), 1U);
  for (const std::string& piece : pieces) {
    EXPECT_LE(piece.size(), std::size_t{1} << 20);
    EXPECT_EQ(piece.back(), '\n');
    together += piece;
  }
  EXPECT_EQ(together, text);
  EXPECT_EQ(pieces_of_lines(std::string(3 << 20, 'x')).size(), 1U);
  EXPECT_TRUE(pieces_of_lines("").empty());
}

}  // namespace
}  // namespace trireme::train
