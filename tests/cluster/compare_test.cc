// SPDX-License-Identifier: Apache-2.0
// `trireme compare` with real trainings on several nodes: one table, resumption, failures, interruption.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"
#include "trireme/base/json.h"
#include "trireme/web/page.h"

namespace trireme::tests {
namespace {

using testing::HasSubstr;

constexpr std::string_view kCompare = R"(
[compare]
title = "small"
nodes = 2
seeds = [1, 2]
variants = [
  { label = "MW", strategy = { name = "allreduce" }, published = { accuracy = 0.9, seconds = 10 } },
  { label = "PS", strategy = { name = "ps", mode = "async", servers = 0, placement = "shared" }, published = { accuracy = 0.8, seconds = 5 } },
]
)";

class Compare : public TrainingFolder {
 protected:
  static ProcessOutput compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TRIREME_BINARY, "compare"});
    return run_process(arguments, std::chrono::minutes(3));
  }
  std::string out() const { return (folder_ / "out").string(); }
  std::string job() const { return (folder_ / "job.toml").string(); }
  Json table() const { return parse_json(read_file(folder_ / "out" / "table.json")); }

  int journals(const std::string& run) const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out" / run))
      count += !entry.is_symlink() && std::filesystem::exists(entry.path() / "journal.jsonl") ? 1 : 0;
    return count;
  }
};

TEST_F(Compare, TwoVariantsWithTwoSeedsMakeOneTableAndAreTrainedOnce) {
  write_job(small_job({.epochs = 2}) + std::string(kCompare));
  const auto first = compare({job(), "--out", out()});
  ASSERT_TRUE(first.status && first.status->is_success()) << first.err;
  EXPECT_THAT(first.out, HasSubstr("Validation accuracy"));
  EXPECT_THAT(first.out, HasSubstr("accuracy, best first"));
  EXPECT_THAT(first.err, HasSubstr("4 of 4: PS, seed 2"));
  const Json json = table();
  for (const auto& variant : json["variants"]) {
    EXPECT_EQ(variant["metrics"]["accuracy"]["runs"], 2);
    EXPECT_GT(variant["metrics"]["accuracy"]["mean"], 0.3);
    EXPECT_GT(variant["metrics"]["memory_most"]["mean"], 1e6);
    EXPECT_GT(variant["metrics"]["cpu_share"]["mean"], 0);
    EXPECT_GT(variant["metrics"]["network_mean"]["mean"], 0);
    EXPECT_GT(variant["metrics"]["seconds"]["mean"], 0);
    EXPECT_NE(variant["runs"][0]["loss"], variant["runs"][1]["loss"]) << "seeds make no difference";
  }
  const std::string curves = read_file(folder_ / "out" / "curves.csv");
  EXPECT_EQ(std::count(curves.begin(), curves.end(), '\n'), 1 + 2 * 2 * 2);

  const auto again = compare({"--out", out(), "--json"});
  ASSERT_TRUE(again.status && again.status->is_success()) << again.err;
  EXPECT_EQ(parse_json(again.out), json);
  for (const char* run : {"mw-seed-1", "mw-seed-2", "ps-seed-1", "ps-seed-2"}) EXPECT_EQ(journals(run), 1) << run;

  const auto other = compare({job(), "--out", out(), "--set", "train.epochs=3"});
  EXPECT_EQ(other.status->code, 3);
  EXPECT_THAT(other.err, HasSubstr("another job"));
}

TEST_F(Compare, AMatrixIsTrainedAndReported) {
  write_job(small_job({.epochs = 1}) + R"(
[compare]
title = "small matrix"
exclude = [ { strategy = "ps:bsp", nodes = 1 } ]
[compare.matrix]
strategy = ["allreduce", "ps:bsp"]
nodes = [1, 2]
seeds = [3]
)");
  const auto first = compare({job(), "--out", out(), "--time-limit", "170"});
  ASSERT_TRUE(first.status && first.status->is_success()) << first.err;
  EXPECT_THAT(first.err, HasSubstr("3 of 3: ps:bsp, 2 nodes, seed 3"));
  const std::string report = read_file(folder_ / "out" / "report.md");
  EXPECT_THAT(report, HasSubstr("# small matrix"));
  EXPECT_THAT(report, HasSubstr("## Results"));
  EXPECT_THAT(report, HasSubstr("## Speed by number of nodes"));
  EXPECT_THAT(report, HasSubstr("allreduce, 2 nodes"));
  if (!web::page_absence().empty()) GTEST_SKIP() << "report.html can't be looked at, this build has no page: " << web::page_absence();
  EXPECT_THAT(read_file(folder_ / "out" / "report.html"), HasSubstr("small matrix"));
}

TEST_F(Compare, ATrainingThatTakesTooLongIsEndedAndHasFailed) {
  write_job(small_job({.epochs = 10'000}) + std::string(kCompare));
  const auto result = compare({job(), "--out", out(), "--seeds", "1", "--time-limit", "3"});
  EXPECT_EQ(result.status->code, 1);
  EXPECT_THAT(result.out, HasSubstr("did not end within 3.0 s"));
  EXPECT_EQ(table()["variants"][1]["runs"][0]["state"], "failed");
}

TEST_F(Compare, SeveralExperimentsHaveATableEach) {
  write_job(small_job({.epochs = 1}) + std::string(kCompare));
  std::filesystem::copy_file(folder_ / "job.toml", folder_ / "other.toml");
  const auto result = compare({job(), (folder_ / "other.toml").string(), "--out", out(), "--seeds", "1"});
  ASSERT_TRUE(result.status && result.status->is_success()) << result.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out" / "job" / "table.md"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out" / "other" / "table.md"));
}

TEST_F(Compare, AFailedRunIsReportedAndTheOthersGoOn) {
  write_job(small_job({.epochs = 1}));
  write_file_atomically(folder_ / "broken.toml", "[model]\nname = 'mlp_128'\n[data]\nreader = 'idx'\ntrain = ['none', 'none']\n");
  const auto result = compare({(folder_ / "broken.toml").string(), job(), "-n", "2", "--out", out()});
  EXPECT_EQ(result.status->code, 1);
  EXPECT_THAT(result.out, HasSubstr("failed: broken, seed 1"));
  const Json json = table();
  EXPECT_EQ(json["variants"][0]["runs"][0]["state"], "failed");
  EXPECT_EQ(json["variants"][1]["runs"][0]["state"], "finished");
  const auto read = compare({"--out", out(), "--table-only"});
  EXPECT_EQ(read.status->code, 1);
  EXPECT_THAT(read.out, HasSubstr("failed: broken, seed 1"));
}

TEST_F(Compare, AnInterruptedComparisonEndsItsTrainingAndGoesOnLater) {
  write_job(small_job({.epochs = 300}) + std::string(kCompare));
  {
    Process process({.argv = {TRIREME_BINARY, "compare", job(), "--out", out(), "--seeds", "1"}});
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(folder_ / "out" / "mw-seed-1" / "latest" / "journal.jsonl"); },
                           std::chrono::seconds(60)));
    ::kill(process.pid(), SIGINT);
    const auto status = process.wait_for(std::chrono::minutes(1));
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->code, 130);
  }
  const auto records = observe::read_journal(folder_ / "out" / "mw-seed-1" / "latest" / "journal.jsonl");
  EXPECT_EQ(records.back().text("reason"), "interrupted");
  const auto result = compare({"--out", out(), "--set", "train.epochs=1"});
  EXPECT_TRUE(result.status && result.status->is_success()) << result.err;
  EXPECT_EQ(journals("mw-seed-1"), 2);
  EXPECT_EQ(table()["variants"][0]["runs"][0]["state"], "finished");
}

}  // namespace
}  // namespace trireme::tests
