// SPDX-License-Identifier: Apache-2.0
// `trireme search` with real trainings on two nodes: shared beginnings, a point that is tried, and nothing trained twice.
#include <gmock/gmock.h>

#include <map>

#include "tests/cluster/training_process.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

using testing::HasSubstr;

constexpr std::string_view kJob = R"(
[model]
name = "mlp_128"
[data]
name = "synthetic_digits"
samples = 2000
test_samples = 500
[train]
epochs = 2
batch_size = 50
[train.optimizer]
name = "sgd"
learning_rate = 0.02
momentum = 0.9
)";

class Search : public TrainingFolder {
 protected:
  static ProcessOutput search(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TRIREME_BINARY, "search"});
    return run_process(arguments, std::chrono::minutes(3));
  }
  static std::map<std::int64_t, double> losses(const std::filesystem::path& run) {
    std::map<std::int64_t, double> by_step;
    for (const observe::Record& record : observe::read_journal(run / "journal.jsonl"))
      if (record.type == "step") by_step[record.integer("step")] = record.real("loss");
    return by_step;
  }
  std::string out() const { return (folder_ / "out").string(); }
};

TEST_F(Search, TriesPointsOnSharedBeginningsAndTrainsNothingTwice) {
  write_job(std::string(kJob));
  // Damped this much, the second strategy is left behind in so short a training; nothing may be lost.
  const auto result = search({(folder_ / "job.toml").string(), "-n", "2", "--seeds", "2", "--settings", "1", "--tolerance", "0", "--to",
                              "ps:async,damp_staleness=true", "--out", out(), "--json"});
  ASSERT_TRUE(result.status && result.status->is_success()) << result.err;
  const auto json = parse_json(result.out);
  ASSERT_EQ(json["points"].size(), 2U) << result.out;
  EXPECT_EQ(json["points"][0]["at"], 0.0);
  EXPECT_EQ(json["points"][1]["at"], 0.5);
  EXPECT_EQ(json["baseline_accuracies"].size(), 2U);
  EXPECT_GT(json["points"][0]["mean_difference"], 0);
  EXPECT_GT(json["seconds"], 0);

  const auto baseline = losses(folder_ / "out" / "seed-1" / "baseline" / "latest");
  const auto switched = losses(folder_ / "out" / "seed-1" / "switch-at-1-of-2");
  ASSERT_EQ(baseline.size(), 80U);
  for (std::int64_t step = 1; step <= 40; ++step) EXPECT_EQ(switched.at(step), baseline.at(step)) << step;
  EXPECT_GT(switched.size(), 80U) << "each push of the second strategy is a step of its own";

  const auto again = search({"--out", out(), "--json"});
  ASSERT_TRUE(again.status && again.status->is_success()) << again.err;
  EXPECT_EQ(again.out, result.out);
}

TEST_F(Search, MistakesAreReportedBeforeAnythingIsTrained) {
  write_job(std::string(kJob));
  const std::string job = (folder_ / "job.toml").string();
  EXPECT_THAT(search({job, "-n", "2", "--to", "ps:asink", "--out", out()}).err, HasSubstr("asink"));
  EXPECT_THAT(search({job, "-n", "2", "--seeds", "1", "--out", out()}).err, HasSubstr("--tolerance"));
  EXPECT_THAT(search({job, "--out", out()}).err, HasSubstr("Give -n"));
  EXPECT_FALSE(std::filesystem::exists(out()));
}

}  // namespace
}  // namespace trireme::tests
