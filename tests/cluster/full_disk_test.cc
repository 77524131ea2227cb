// SPDX-License-Identifier: Apache-2.0
// The run directory's disk is full: training goes on, nothing that was good is lost, and what was missing is written when there is room.
// With a file system of their own, filled by a file: these tests need root.
#include <gmock/gmock.h>

#include <csignal>
#include <optional>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"
#include "tests/faults/small_disk.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

using Arguments = std::vector<std::string>;

constexpr int kMegabytes = 16;  // a checkpoint has 1.2
constexpr const char* kNoCheckpoint = "is not written, step-";
constexpr const char* kNoRecords = "records of this run wait in memory";

class FullDisk : public TrainingFolder, public testing::WithParamInterface<Arguments> {
 protected:
  FullDisk() { disk_.emplace(folder_ / "runs", kMegabytes); }
  ~FullDisk() override { disk_.reset(); }

  TrainingProcess begin(int epochs) const {
    write_job(small_job({.epochs = epochs}));
    return TrainingFolder::begin("runs", GetParam());
  }
  std::filesystem::path checkpoints() const { return latest("runs") / "checkpoints"; }
  // Returns when a checkpoint and the journal were refused. Not full before there is a good checkpoint.
  void fill_under(const TrainingProcess& training) const {
    ASSERT_TRUE(wait_until([&] { return !stored_steps().empty(); }, seconds(60))) << training.text();
    const auto is_refused = [&] {
      disk_->fill();  // again, since what was being written is removed
      const std::string text = training.text();
      return text.find(kNoCheckpoint) != std::string::npos && text.find(kNoRecords) != std::string::npos;
    };
    ASSERT_TRUE(wait_until(is_refused, seconds(60))) << training.text();
    // A checkpoint that was being written meanwhile has left some room; the next one finds none to begin with.
    for (int rounds = 0; rounds < 2; ++rounds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      disk_->fill();
    }
    EXPECT_THAT(training.text(), HasSubstr("No space left on device"));
  }
  std::vector<std::string> stored_steps() const {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints(), absent))
      if (entry.path().filename().string().starts_with("step-")) names.push_back(entry.path().filename());
    return names;
  }
  static std::size_t epoch_lines(const TrainingProcess& training) {
    const std::string text = training.text();
    std::size_t count = 0;
    for (std::size_t at = text.find("epoch "); at != std::string::npos; at = text.find("epoch ", at + 1)) ++count;
    return count;
  }
  void expect_complete_journal(const std::string& last) const {
    std::int64_t expected = 1;
    for (const auto& record : records("runs", "step")) ASSERT_EQ(record.integer("step"), expected++);
    const auto ends = records("runs", "end");
    ASSERT_THAT(ends, SizeIs(1));
    EXPECT_EQ(ends[0].text("reason"), last);
    EXPECT_EQ(ends[0].integer("steps"), expected - 1);
    EXPECT_THAT(records("runs", "lost"), IsEmpty());
    EXPECT_THAT(records("runs", "checkpoint_failed"), Not(IsEmpty()));
    const auto recovered = records("runs", "disk_recovered");
    ASSERT_THAT(recovered, Not(IsEmpty()));
    EXPECT_THAT(records("runs", "disk_failure"), SizeIs(recovered.size()));
    for (const auto& record : recovered) EXPECT_EQ(record.integer("lost"), 0);
  }

  std::optional<SmallDisk> disk_;
};

TEST_P(FullDisk, ThatHasRoomAgainGetsAllThatWaited) {
  TrainingProcess training = begin(100000);
  fill_under(training);
  const std::size_t lines = epoch_lines(training);
  EXPECT_TRUE(wait_until([&] { return epoch_lines(training) > lines + 3; }, seconds(30))) << training.text();
  disk_->free();
  EXPECT_TRUE(training.says("records of this run are written again", seconds(30))) << training.text();
  EXPECT_TRUE(training.says("a checkpoint is written again", seconds(70))) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  expect_complete_journal("interrupted");
}

TEST_P(FullDisk, IsWaitedForAtTheEnd) {
  TrainingProcess training = begin(60);
  fill_under(training);
  ASSERT_TRUE(training.says("the last checkpoint, after step 3600, is not written yet: trying for up to 60 s", seconds(60)))
      << training.text();
  disk_->free();
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("trained 60 epochs"), HasSubstr("step-00003600/")));
  expect_complete_journal("completed");
}

TEST_P(FullDisk, ThatStaysFullEndsAnInterruptedTrainingInWordsAndItCanBeResumed) {
  TrainingProcess training = begin(60);
  fill_under(training);
  const std::vector<std::string> good = stored_steps();
  training.signal(SIGINT);  // a quick one may be done by now; it waits for its disk no longer than an interrupted one
  const auto asked = std::chrono::steady_clock::now();
  EXPECT_EQ(training.wait(), 1) << training.text();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, seconds(40));
  EXPECT_EQ(stored_steps(), good);
  EXPECT_THAT(training.text(),
              AllOf(HasSubstr("is not written yet: trying for up to "), HasSubstr("is missing: cannot write"),
                    HasSubstr("No space left on device (machine "), HasSubstr("Free space, then\n  trireme train --resume "),
                    HasSubstr("it continues from step-"), HasSubstr("journal.jsonl"), HasSubstr("could not be written to the end")));
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints()))
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("step-"));
  disk_->free();
  OutputFile(latest("runs") / "journal.jsonl", OutputFile::Mode::append).write(R"({"type":"step","ti)");  // as a power failure leaves it
  Arguments arguments{"--resume", latest("runs").string()};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  TrainingProcess rest(arguments);
  EXPECT_EQ(rest.wait(), 0) << rest.text();
  EXPECT_THAT(rest.text(), AllOf(HasSubstr("continuing after step"), HasSubstr("trained 60 epochs")));
  const auto ends = records("runs", "end");
  ASSERT_THAT(ends, Not(IsEmpty()));
  EXPECT_EQ(ends.back().integer("steps"), 3600);
}

INSTANTIATE_TEST_SUITE_P(Disk, FullDisk, testing::Values(Arguments{"--threads", "1"}, Arguments{"-n", "2"}),
                         [](const auto& mode) { return mode.param.front() == "-n" ? "TwoNodes" : "OneProcess"; });

}  // namespace
}  // namespace trireme::tests
