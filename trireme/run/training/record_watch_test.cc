// SPDX-License-Identifier: Apache-2.0
// Tests of what is said about records that the disk refuses: once for all files, and once when all are written.
#include "trireme/run/training/record_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::run {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecordWatchTest : public testing::Test {
 protected:
  FakeClock clock_;
  std::vector<std::string> said_;
  RecordWatch watch_{{.clock = clock_, .host = "node7", .say = [this](const std::string& line) { said_.push_back(line); }}};
  const Error full_{resource_exhausted, "cannot write run/journal.jsonl: No space left on device"};
};

TEST_F(RecordWatchTest, ReportsTheFirstFileAndTheLastOneThatIsWritten) {
  watch_.on_refused("run/journal.jsonl", full_);
  watch_.on_refused("run/steps/0.csv", full_);
  EXPECT_THAT(said_, ElementsAre(AllOf(HasSubstr("run/journal.jsonl: No space left"), HasSubstr("(machine node7)"), HasSubstr("goes on"))));
  EXPECT_TRUE(watch_.is_behind());
  EXPECT_EQ(watch_.missing(), "run/journal.jsonl, run/steps/0.csv");
  clock_.advance(Seconds(12));
  watch_.on_written("run/journal.jsonl");
  EXPECT_EQ(said_.size(), 1U);
  watch_.on_written("run/steps/0.csv");
  EXPECT_FALSE(watch_.is_behind());
  EXPECT_THAT(said_.back(), AllOf(HasSubstr("written again, after 12 s"), HasSubstr("none is lost")));
  const auto records = watch_.take_records();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].type, "disk_failure");
  EXPECT_EQ(records[1].type, "disk_recovered");
  EXPECT_THAT(watch_.take_records(), IsEmpty());
}

TEST_F(RecordWatchTest, CountsWhatIsLostAndSaysSoOncePerFile) {
  watch_.on_refused("run/journal.jsonl", full_);
  watch_.on_lost("run/journal.jsonl", 3);
  watch_.on_lost("run/journal.jsonl", 4);
  EXPECT_EQ(said_.size(), 2U);
  watch_.on_written("run/journal.jsonl");
  EXPECT_THAT(said_.back(), HasSubstr("lost: 7 of run/journal.jsonl"));
  watch_.on_refused("run/journal.jsonl", full_);
  watch_.on_written("run/journal.jsonl");
  EXPECT_THAT(said_.back(), HasSubstr("none is lost"));
}

}  // namespace
}  // namespace trireme::run
