// SPDX-License-Identifier: Apache-2.0
// `trireme train --folds` with real trainings: one table, what is there is not trained again, and an interrupted fold goes on.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

using testing::HasSubstr;

class Folds : public TrainingFolder {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{TRIREME_BINARY, "train", (folder_ / "job.toml").string(), "--folds-dir", folds()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  ProcessOutput train(const std::vector<std::string>& more) const { return run_process(command(more), std::chrono::minutes(3)); }
  std::string folds() const { return (folder_ / "folds").string(); }
  std::filesystem::path journal(int fold) const { return folder_ / "folds" / fmt::format("fold-{}", fold) / "latest" / "journal.jsonl"; }
  int runs(int fold) const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(journal(fold).parent_path().parent_path()))
      count += !entry.is_symlink() && std::filesystem::exists(entry.path() / "journal.jsonl") ? 1 : 0;
    return count;
  }
};

TEST_F(Folds, AreTrainedOnceAndHaveMeanAndSpread) {
  write_job(small_job({.samples = 301, .epochs = 2}));
  const auto first = train({"--folds", "3", "-n", "2", "--json"});
  ASSERT_TRUE(first.status && first.status->is_success()) << first.err;
  const Json json = parse_json(first.out);
  EXPECT_EQ(json["complete"], true);
  ASSERT_EQ(json["runs"].size(), 3U);
  double sum = 0;
  int samples = 0;
  for (const auto& run : json["runs"]) {
    sum += run["loss"].get<double>();
    samples += run["samples"].get<int>();
    EXPECT_TRUE(std::filesystem::exists(run["run"].get<std::string>() + "/checkpoints"));
  }
  EXPECT_EQ(samples, 301) << "each sample is held out once";
  EXPECT_NEAR(json["loss"]["mean"].get<double>(), sum / 3, 1e-9);
  EXPECT_GT(json["accuracy"]["sd"].get<double>(), 0);

  const auto again = train({"--folds", "3", "-n", "2"});
  ASSERT_TRUE(again.status && again.status->is_success()) << again.err;
  EXPECT_THAT(again.out, HasSubstr("standard deviation"));
  EXPECT_THAT(again.err, testing::Not(HasSubstr("begins")));
  for (const int fold : {1, 2, 3}) EXPECT_EQ(runs(fold), 1);

  const auto other = train({"--folds", "3", "--set", "train.epochs=3"});
  EXPECT_EQ(other.status->code, 3);
  EXPECT_THAT(other.err, HasSubstr("give another --folds-dir"));
}

TEST_F(Folds, WhatWasInterruptedGoesOn) {
  write_job(small_job({.epochs = 150}));
  {
    Process process({.argv = command({"--folds", "2", "--set", "train.threads=1"})});
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(journal(1)) && steps("folds/fold-1") > 3; }, std::chrono::seconds(60)));
    ::kill(process.pid(), SIGINT);
    const auto status = process.wait_for(std::chrono::minutes(1));
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->code, 130);
  }
  EXPECT_EQ(observe::read_journal(journal(1)).back().text("reason"), "interrupted");
  const auto rest = train({"--folds", "2", "--set", "train.threads=1", "--json"});
  ASSERT_TRUE(rest.status && rest.status->is_success()) << rest.err;
  EXPECT_EQ(parse_json(rest.out)["complete"], true);
  EXPECT_EQ(runs(1), 1);
  EXPECT_EQ(records("folds/fold-1", "resume").size(), 1U);
}

TEST_F(Folds, AMistakeEndsThemAtOnce) {
  write_job(small_job());
  const auto result = train({"--folds", "2", "--set", "train.class_weights=[1, 2]"});
  EXPECT_EQ(result.status->code, 1);
  EXPECT_THAT(result.err, HasSubstr("fold 1 failed"));
  EXPECT_THAT(result.err, HasSubstr("class_weights"));
  EXPECT_THAT(train({"--folds", "2", "--until", "0.5"}).err, HasSubstr("leave --until"));
}

}  // namespace
}  // namespace trireme::tests
