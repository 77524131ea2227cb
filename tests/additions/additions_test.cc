// SPDX-License-Identifier: Apache-2.0
// An entry of each catalogue is one file (an op: two). Those of this folder are run, listed and reported with no other line written.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/base/process.h"

namespace trireme {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kPatience = std::chrono::minutes(2);

class Additions : public testing::Test {
 protected:
  Additions() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("trireme_additions_{}", ::getpid())) {
    write_file_atomically(folder_ / "job.toml",
                          "model = { name = \"added_net\", units = 6 }\n"
                          "data = { name = \"added_points\", samples = 400, test_samples = 40 }\n"
                          "strategy = { name = \"averaging\" }\n"
                          "[train]\nepochs = 2\nbatch_size = 20\nthreads = 1\noptimizer = { name = \"signum\", momentum = 0.25 }\n");
  }
  ~Additions() override { std::filesystem::remove_all(folder_); }

  static ProcessOutput run(const std::string& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program);
    return run_process(arguments, kPatience, "/dev/null");
  }
  static ProcessOutput run(std::vector<std::string> arguments) { return run(TRIREME_WITH_ADDITIONS, std::move(arguments)); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  ProcessOutput train(std::vector<std::string> more) const {
    std::vector<std::string> words{"train", path("job.toml"), "--runs", path("runs")};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  std::filesystem::path folder_;
};

TEST_F(Additions, AreListedBesideTheTreesOwn) {
  const std::string list = run({"list"}).out;
  EXPECT_THAT(list, AllOf(HasSubstr("added_net"), HasSubstr("exp "), HasSubstr("added_points"), HasSubstr("signum"), HasSubstr("averaging"),
                          HasSubstr("niced")));
  EXPECT_THAT(list, AllOf(HasSubstr("mlp_128"), HasSubstr("relu"), HasSubstr("mnist"), HasSubstr("adamw"), HasSubstr("allreduce"),
                          HasSubstr("slurm")));
  EXPECT_THAT(run(TRIREME_BINARY, {"list"}).out,
              AllOf(Not(HasSubstr("added_net")), Not(HasSubstr("added_points")), Not(HasSubstr("signum")), Not(HasSubstr("niced"))));
}

TEST_F(Additions, ACommandIsOfferedAndRuns) {
  EXPECT_THAT(run({"--help"}).out, HasSubstr("greets the given name"));
  EXPECT_EQ(run({"greet", "you"}).out, "hello, you\n");
  EXPECT_THAT(run({"gret", "you"}).err, HasSubstr("did you mean 'greet'"));
  EXPECT_FALSE(run(TRIREME_BINARY, {"greet", "you"}).status->is_success());
}

TEST_F(Additions, AWriterWritesWhatAReaderReads) {
  const ProcessOutput output =
      run({"convert", "--reader", "added_points", "--set", "samples=6", "--to", "added_labels", "--out", path("labels")});
  ASSERT_TRUE(output.status && output.status->is_success()) << output.err;
  EXPECT_THAT(read_file(folder_ / "labels" / "train.labels"), testing::StrEq("0\n0\n0\n0\n1\n1\n"));
}

// Model, op, data set and optimizer.
TEST_F(Additions, OneNodeTrains) {
  const ProcessOutput output = train({});
  ASSERT_TRUE(output.status && output.status->is_success()) << output.err;
  EXPECT_THAT(read_file(folder_ / "runs" / "latest" / "journal.jsonl"), HasSubstr(R"("optimizer_slots":1)"));
  EXPECT_THAT(run({"report", path("runs/latest"), "--markdown"}).out, AllOf(HasSubstr("added_net"), HasSubstr("added_points")));
}

// The same, with the strategy, on nodes that the launcher starts.
TEST_F(Additions, SeveralNodesTrainAndTheReportKnowsWhatTheySent) {
  const ProcessOutput output = train({"-n", "2", "--launcher", "niced"});
  ASSERT_TRUE(output.status && output.status->is_success()) << output.err;
  const std::string report = run({"report", path("runs/latest"), "--json"}).out;
  EXPECT_THAT(report, HasSubstr("averaging: parameters and 1 slots are averaged every 1 steps")) << "the expected traffic";
}

TEST_F(Additions, ALauncherSaysWhenItAppliesAndWhatItRefuses) {
  EXPECT_THAT(train({"--dry-run", "-n", "2", "--launcher", "niced"}).out, HasSubstr("nice "));
  EXPECT_THAT(train({"--dry-run", "-n", "4", "--launcher", "niced"}).err, HasSubstr("at most 3 nodes, not 4"));
  EXPECT_THAT(train({"--dry-run", "-H", "a", "--launcher", "niced"}).err, HasSubstr("does not take machines"));
  const ProcessOutput applied =
      run_process({"env", "TRIREME_NICED=1", TRIREME_WITH_ADDITIONS, "train", path("job.toml"), "--dry-run"}, kPatience, "/dev/null");
  EXPECT_THAT(applied.err, HasSubstr("launcher niced: TRIREME_NICED is set (--launcher local overrides)"));
  EXPECT_THAT(applied.out, HasSubstr("nice "));
}

}  // namespace
}  // namespace trireme
