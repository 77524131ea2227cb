// SPDX-License-Identifier: Apache-2.0
// Tests of the checker with histories made by hand: a good one passes, and each kind of bad one is found.
#include "tests/faults/checker.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/faults/written_history.h"
#include "trireme/base/digest.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t kSamples = 10;  // of an epoch: batches of 4, 4 and 2

// A training of nodes 0 and 1.
class Written : public WrittenHistory {
 public:
  void lost(const std::string& node) { line("coordinator-1", fmt::format(R"("type":"lost","node":"{}","reason":"gone")", node)); }
  void joined(const std::string& file, std::int64_t generation, std::int64_t step, const std::string& weights = "") {
    line(file, fmt::format(R"("type":"joined","generation":{},"rank":0,"size":2,"step":{},"epoch":{},"offset":{},"samples":{},)"
                           R"("batch_size":4,"root":0,"weights":"{}")",
                           generation, step, step / 3, offset(step), kSamples, weights.empty() ? weights_of(step) : weights));
  }
  // Step `step` with the batch that follows from its number; this node has a part of it.
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  void stepped(const std::string& file, std::int64_t generation, std::int64_t step, Part part, const std::string& weights = "") {
    line(file,
         fmt::format(R"("type":"stepped","generation":{},"step":{},"epoch":{},"offset":{},"whole":{},"begin":{},"end":{},"weights":"{}")",
                     generation, step, (step - 1) / 3, offset(step - 1), whole(step), part.begin, part.end,
                     weights.empty() ? weights_of(step) : weights));
  }
  void handed(const std::string& file, std::int64_t generation, std::int64_t step) {
    line(file, fmt::format(R"("type":"handed","generation":{},"step":{})", generation, step));
  }
  // Both nodes do it, half and half.
  void both_step(std::int64_t generation, std::int64_t step) {
    stepped("node-0-10", generation, step, {0, whole(step) / 2});
    stepped("node-1-11", generation, step, {whole(step) / 2, whole(step)});
  }
  static std::int64_t whole(std::int64_t step) { return step % 3 == 0 ? 2 : 4; }

 private:
  static std::int64_t offset(std::int64_t step) { return step % 3 * 4; }
  static std::string weights_of(std::int64_t step) { return fmt::format("{:08x}", 1000 + step); }
};

// Three steps together, then node 1 dies in step 4, node 0 goes on alone, and a new process of node 1 joins.
Written good() {
  Written history;
  history.generation(1, "0 1");
  for (const char* node : {"node-0-10", "node-1-11"}) history.joined(node, 1, 0);
  for (int step = 1; step <= 3; ++step) history.both_step(1, step);
  history.commit(1, 3);
  history.handed("node-0-10", 1, 3);
  history.lost("1");
  history.generation(2, "0");
  history.joined("node-0-10", 2, 3);
  for (int step = 4; step <= 5; ++step) history.stepped("node-0-10", 2, step, {0, Written::whole(step)});
  history.commit(2, 5);
  history.generation(3, "0 1");
  for (const char* node : {"node-0-10", "node-1-12"}) history.joined(node, 3, 5);
  history.stepped("node-0-10", 3, 6, {0, 1});
  history.stepped("node-1-12", 3, 6, {1, 2});
  history.commit(3, 6);
  return history;
}

TEST(Checker, AGoodHistoryHasNoViolations) { EXPECT_THAT(good().violations(), IsEmpty()); }

TEST(Checker, FindsACommitThatGoesBack) {
  Written history = good();
  history.commit(3, 5);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I1 coordinator-1.jsonl"), HasSubstr("behind step 6"))));
}

TEST(Checker, FindsACommitThatGoesBackInANewCoordinator) {
  Written history = good();
  history.generation(4, "0", "coordinator-2");
  history.commit(4, 3, "coordinator-2");
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I1 coordinator-2.jsonl"), HasSubstr("behind step 6"))));
}

TEST(Checker, FindsALostCommit) {
  Written history = good();
  history.generation(4, "0 1");
  for (const char* node : {"node-0-20", "node-1-21"}) history.joined(node, 4, 4);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I1"), HasSubstr("begins behind step 6"))));
}

TEST(Checker, FindsACommitThatNoNodeDid) {
  Written history = good();
  history.commit(3, 9);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I1"), HasSubstr("no node has done"))));
}

TEST(Checker, FindsAnAcknowledgedCheckpointThatIsNowhere) {
  Written history = good();
  history.handed("node-0-10", 3, 7);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I1 node-0-10"), HasSubstr("acknowledged"))));
}

class CheckpointsOnDisk : public testing::Test {
 protected:
  CheckpointsOnDisk() {
    write(5);
    write(6);
  }
  ~CheckpointsOnDisk() override { fs::remove_all(run_); }
  void write(std::int64_t step) const {
    const fs::path directory = run_ / "checkpoints" / fmt::format("step-{:08}", step);
    std::string sums;
    for (const std::string name : {"model.safetensors", "optimizer.safetensors", "manifest.json"}) {
      const std::string content = fmt::format(R"({{"cursor": {{"step": {}}}}})", step);
      write_file_atomically(directory / name, content);
      sums += fmt::format("{}  {}\n", digest_of(Digest::Kind::sha256, content), name);
    }
    write_file_atomically(directory / "SHA256SUMS", sums);
  }
  fs::path run_ = fs::path(testing::TempDir()) / fmt::format("trireme_checked_run_{}", ::getpid());
};

TEST_F(CheckpointsOnDisk, TheLastTwoAreThere) { EXPECT_THAT(good().violations({.run = run_}), IsEmpty()); }

TEST_F(CheckpointsOnDisk, AMissingOneIsFound) {
  fs::remove_all(run_ / "checkpoints/step-00000005");
  EXPECT_THAT(good().violations({.run = run_}), Contains(AllOf(StartsWith("I1 run"), HasSubstr("step-00000005"))));
}

TEST_F(CheckpointsOnDisk, AnAlteredOneIsFound) {
  write_file_atomically(run_ / "checkpoints/step-00000006/model.safetensors", "x");
  EXPECT_THAT(good().violations({.run = run_}), Contains(AllOf(StartsWith("I1 run"), HasSubstr("checksum"))));
}

TEST(Checker, FindsACommitOfAnOldGeneration) {
  Written history = good();
  history.generation(4, "0 1");
  history.commit(3, 6);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I2 coordinator-1"), HasSubstr("generation 4 was announced"))));
}

TEST(Checker, FindsAStepForAnOldGeneration) {
  Written history = good();
  history.stepped("node-0-10", 2, 6, {0, 2});
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I2 node-0-10"), HasSubstr("joined generation 3"))));
}

TEST(Checker, FindsAGenerationAnnouncedTwice) {
  Written history = good();
  history.generation(3, "0", "coordinator-2");
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I2 coordinator-2"), HasSubstr("after generation 3"))));
}

TEST(Checker, FindsAStranger) {
  Written history = good();
  history.joined("node-7-70", 3, 5);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I2 node-7-70"), HasSubstr("no member"))));
}

TEST(Checker, FindsAGenerationThatNoCoordinatorAnnounced) {
  Written history = good();
  history.joined("node-0-10", 9, 6);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I2 node-0-10"), HasSubstr("no coordinator announced"))));
}

TEST(Checker, ALostNodeMayEndItsStepButNoMore) {
  Written history = good();
  history.stepped("node-1-11", 1, 4, {2, 4});  // it had all data of this step when it was stopped; nothing of it counts
  EXPECT_THAT(history.violations(), IsEmpty());
  history.stepped("node-1-11", 1, 5, {2, 4});
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I2 node-1-11"), HasSubstr("declared lost"))));
}

TEST(Checker, FindsSamplesThatNoNodeComputed) {
  Written history = good();
  history.stepped("node-0-10", 3, 7, {0, 2});
  history.stepped("node-1-12", 3, 7, {3, 4});
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I3"), HasSubstr("by no node"))));
}

TEST(Checker, FindsSamplesComputedTwice) {
  Written history = good();
  history.stepped("node-0-10", 3, 7, {0, 3});
  history.stepped("node-1-12", 3, 7, {2, 4});
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I3"), HasSubstr("twice"))));
}

TEST(Checker, FindsASkippedBatch) {
  Written history = good();
  for (const auto& [node, begin] : {std::pair{"node-0-10", 0}, std::pair{"node-1-12", 2}}) history.stepped(node, 3, 8, {begin, begin + 2});
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I3"), HasSubstr("between 6"))));
}

// Node 1 gave its part of step 4 and died before it could write that down; node 0 has the step, and generation 2 begins behind it.
Written died_before_writing() {
  Written history;
  history.generation(1, "0 1");
  for (const char* node : {"node-0-10", "node-1-11"}) history.joined(node, 1, 0);
  for (int step = 1; step <= 3; ++step) history.both_step(1, step);
  history.stepped("node-0-10", 1, 4, {0, 2});
  history.lost("1");
  history.generation(2, "0");
  history.joined("node-0-10", 2, 4);
  history.stepped("node-0-10", 2, 5, {0, Written::whole(5)});
  return history;
}

TEST(Checker, ADeadNodesPartIsImpliedByTheOnlyHole) { EXPECT_THAT(died_before_writing().violations(), IsEmpty()); }

TEST(Checker, ADeadNodeExplainsOneHoleOnly) {
  Written other;
  other.generation(1, "0 1 2");
  for (const char* node : {"node-0-10", "node-1-11", "node-2-12"}) other.joined(node, 1, 0);
  other.stepped("node-0-10", 1, 1, {0, 1});  // 1 to 2 is missing,
  other.stepped("node-2-12", 1, 1, {2, 3});  // and so is 3 to 4; only node 1 is silent
  other.generation(2, "0 2");
  for (const char* node : {"node-0-10", "node-2-12"}) other.joined(node, 2, 1);
  EXPECT_THAT(other.violations(), Contains(AllOf(StartsWith("I3"), HasSubstr("2 holes, 1 members"))));
}

TEST(Checker, ANodeThatWentOnExplainsNoHole) {
  Written history = good();
  history.stepped("node-0-10", 3, 7, {0, 2});
  history.stepped("node-0-10", 3, 8, {0, 2});
  history.stepped("node-1-12", 3, 8, {2, 4});
  EXPECT_THAT(history.violations(), Contains(StartsWith("I3")));
}

TEST(Checker, FindsUnequalWeights) {
  Written history = good();
  history.stepped("node-0-10", 3, 7, {0, 2}, "aaaaaaaa");
  history.stepped("node-1-12", 3, 7, {2, 4}, "bbbbbbbb");
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I4 node-1-12"), HasSubstr("bbbbbbbb instead of aaaaaaaa"))));
}

TEST(Checker, FindsAStateThatWasChangedOnTheWay) {
  Written history = good();
  history.generation(4, "0 1");
  for (const char* node : {"node-0-10", "node-1-12"}) history.joined(node, 4, 6, "cccccccc");
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I4"), HasSubstr("generation 4 begins"))));
}

TEST(Checker, FindsTooMuchRedone) {
  Written history;
  history.generation(1, "0 1");
  for (const char* node : {"node-0-10", "node-1-11"}) history.joined(node, 1, 0);
  for (int step = 1; step <= 3; ++step) history.both_step(1, step);
  history.generation(2, "0");
  history.joined("node-0-10", 2, 1);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I5"), HasSubstr("had reached step 3"))));
}

TEST(Checker, FindsTwoStepsRedoneThoughASurvivorWasOneBehind) {
  Written history;
  history.generation(1, "0 1");
  for (const char* node : {"node-0-10", "node-1-11"}) history.joined(node, 1, 0);
  history.both_step(1, 1);
  history.stepped("node-1-11", 1, 2, {2, 4});
  history.stepped("node-1-11", 1, 3, {1, 2});
  history.generation(2, "0");
  history.joined("node-0-10", 2, 1);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I5"), HasSubstr("2 steps are done again"))));
}

TEST(Checker, AfterALossOfAllTheLastCommitIsTheBeginning) {
  Written history = good();
  for (int step = 7; step <= 8; ++step) {
    history.stepped("node-0-10", 3, step, {0, Written::whole(step) / 2});
    history.stepped("node-1-12", 3, step, {Written::whole(step) / 2, Written::whole(step)});
  }
  history.generation(4, "0 1");
  for (const char* node : {"node-0-20", "node-1-21"}) history.joined(node, 4, 6);
  for (const auto& [node, begin] : {std::pair{"node-0-20", 0}, std::pair{"node-1-21", 2}}) history.stepped(node, 4, 7, {begin, begin + 2});
  EXPECT_THAT(history.violations(), IsEmpty());
}

TEST(Checker, ReportsWhatTheHarnessSaw) {
  EXPECT_THAT(good().violations({.left_behind = {"process 4711"}}), Contains(AllOf(StartsWith("I6"), HasSubstr("process 4711"))));
  EXPECT_THAT(good().violations({.hang = "it still ran after 90 s"}), Contains(AllOf(StartsWith("I8"), HasSubstr("90 s"))));
  EXPECT_THAT(good().violations({.peak_memory = 900 << 20, .control_memory = 500 << 20}), Contains(StartsWith("I9")));
  EXPECT_THAT(good().violations({.peak_memory = 550 << 20, .control_memory = 500 << 20}), IsEmpty());
}

TEST(Checker, AFailureMustNameTheGuiltyAndNoOther) {
  const Observed failed{
      .exit_code = 1, .expected_exit = 1, .text = "trireme: error: rank 1 on h2 died\n", .guilty = {"h2"}, .innocent = {"h1"}};
  EXPECT_THAT(good().violations(failed), IsEmpty());
  Observed wrong_code = failed;
  wrong_code.exit_code = 0;
  EXPECT_THAT(good().violations(wrong_code), Contains(AllOf(StartsWith("I7"), HasSubstr("exit code 0"))));
  Observed nobody = failed;
  nobody.text = "trireme: error: something is wrong\n";
  EXPECT_THAT(good().violations(nobody), Contains(AllOf(StartsWith("I7"), HasSubstr("'h2'"))));
  Observed innocent = failed;
  innocent.text = "trireme: error: h1 or h2 died\n";
  EXPECT_THAT(good().violations(innocent), Contains(AllOf(StartsWith("I7"), HasSubstr("'h1' is blamed"))));
}

}  // namespace
}  // namespace trireme::tests
