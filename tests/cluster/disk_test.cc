// SPDX-License-Identifier: Apache-2.0
// The run directory's disk hangs, as a mount whose server is gone: it is named, the nodes go on, and nothing recorded is missing.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHangs = "has not taken a write for";
constexpr const char* kMoves = "takes writes again";

class HungDisk : public TrainingFolder {
 protected:
  HungDisk() { write_job(small_job({.samples = 6000, .epochs = 2000, .batch_size = 60})); }
  ~HungDisk() override { ::unsetenv("TRIREME_FAILPOINTS"); }

  // Of the coordinator's visits of `place` the third hangs.
  TrainingProcess begin_hanging(const std::string& place, int for_seconds) const {
    ::setenv("TRIREME_FAILPOINTS", fmt::format("{}@coordinator:3:sleep={}", place, for_seconds).c_str(), 1);
    return begin("runs", {"-n", "2"});
  }
  static std::size_t epoch_lines(const TrainingProcess& training) {
    const std::string text = training.text();
    std::size_t count = 0;
    for (std::size_t at = text.find("epoch "); at != std::string::npos; at = text.find("epoch ", at + 1)) ++count;
    return count;
  }
  // While the disk hangs.
  static void expect_training_goes_on(const TrainingProcess& training) {
    const std::size_t lines = epoch_lines(training);
    EXPECT_TRUE(wait_until([&] { return epoch_lines(training) > lines + 3; }, seconds(20))) << training.text();
    EXPECT_THAT(training.text(), Not(HasSubstr(kMoves))) << "that was too late to say anything";
  }
  // Each step once, in order, from the first one to that of the last record; one generation, and no node lost.
  void expect_complete_journal(const std::string& last) const {
    std::int64_t expected = 1;
    for (const auto& record : records("runs", "step")) ASSERT_EQ(record.integer("step"), expected++);
    const auto ends = records("runs", "end");
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0].integer("steps"), expected - 1);
    EXPECT_EQ(ends[0].text("reason"), last);
    EXPECT_THAT(records("runs", "lost"), IsEmpty());
    EXPECT_EQ(records("runs", "generation").size(), 1U);
  }
  std::string named(const std::string& what) const {
    return fmt::format("the run directory {}.* {} [0-9]+ s \\({}\\)", (folder_ / "runs").string(), kHangs, what);
  }
};

TEST_F(HungDisk, InTheJournalsSyncIsNamedAndTheNodesGoOn) {
  TrainingProcess training = begin_hanging("journal.sync", 15);
  ASSERT_TRUE(training.says(kHangs)) << training.text();
  expect_training_goes_on(training);
  EXPECT_TRUE(training.says(kMoves)) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_THAT(training.text(), AllOf(ContainsRegex(named("journal")), ContainsRegex("takes writes again, after 1[0-9] s"),
                                     Not(HasSubstr("misses")), Not(HasSubstr("stuck"))));
  expect_complete_journal("interrupted");
}

TEST_F(HungDisk, InACheckpointIsNamedAndTheNodesGoOn) {
  TrainingProcess training = begin_hanging("ckpt.after_tmp_write", 15);
  ASSERT_TRUE(training.says(kHangs)) << training.text();
  expect_training_goes_on(training);
  EXPECT_TRUE(training.says(kMoves)) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_THAT(training.text(), AllOf(ContainsRegex(named("checkpoint")), Not(HasSubstr("misses")), Not(HasSubstr("stuck")),
                                     Not(HasSubstr("could not be written"))));
  expect_complete_journal("interrupted");
}

// Longer than a node waits for other calls.
TEST_F(HungDisk, InACheckpointForLongIsWaitedForAtTheEnd) {
  write_job(small_job({.epochs = 40}));
  TrainingProcess training = begin_hanging("ckpt.after_tmp_write", 40);
  ASSERT_TRUE(training.says(kHangs)) << training.text();
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(ContainsRegex("takes writes again, after (39|4[0-9]) s"), HasSubstr("trained 40 epochs"),
                                     Not(HasSubstr("could not be written"))));
  expect_complete_journal("completed");
}

TEST_F(HungDisk, AtTheEndOfATrainingIsWaitedFor) {
  write_job(small_job({.epochs = 40}));
  TrainingProcess training = begin_hanging("journal.sync", 12);
  ASSERT_TRUE(training.says(kHangs)) << training.text();
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr(kMoves), HasSubstr("trained 40 epochs")));
  expect_complete_journal("completed");
}

TEST_F(HungDisk, ThatNeverMovesDoesNotHoldUpAnInterruption) {
  for (const char* place : {"journal.sync", "ckpt.after_tmp_write"}) {
    TrainingProcess training = begin_hanging(place, 3600);
    ASSERT_TRUE(training.says(kHangs)) << training.text();
    const std::vector<pid_t> nodes = training.children();
    const auto asked = std::chrono::steady_clock::now();
    training.signal(SIGTERM);
    EXPECT_EQ(training.wait(), 143) << training.text();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, seconds(25));
    EXPECT_THAT(training.text(), AllOf(HasSubstr("ended without it"), HasSubstr("may be missing"), HasSubstr("trireme train --resume")));
    for (const pid_t node : nodes) EXPECT_TRUE(wait_until([&] { return ::kill(node, 0) != 0; }, seconds(10))) << node;
  }
}

}  // namespace
}  // namespace trireme::tests
