// SPDX-License-Identifier: Apache-2.0
// What the conductor asks of its nodes and when, with a clock that the test turns.
#include "trireme/train/conductor/conductor.h"

#include <gmock/gmock.h>

#include <functional>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/testing/conductor.h"

namespace trireme::train {
namespace {

class CheckpointRequests : public ConductorTest {
 protected:
  void SetUp() override {
    for (const char* name : {"0", "1", "2"}) join(name);
    start();
    enter(1);
  }
};

TEST_F(CheckpointRequests, ALostNodeDoesNotPutTheNextOneOff) {
  pass(4);
  EXPECT_EQ(checkpoints_asked_of("0"), 0);
  kill("2");
  settle();
  enter(2);
  pass(1);
  EXPECT_EQ(checkpoints_asked_of("0"), 1) << "5.3 s since the training began";
}

TEST_F(CheckpointRequests, OneThatWasLostWithItsGenerationIsAskedForAgain) {
  pass(5);
  EXPECT_EQ(checkpoints_asked_of("0"), 1);
  kill("2");
  settle();
  enter(2);
  EXPECT_EQ(checkpoints_asked_of("0"), 1);
  hand_in_checkpoint("0", 7);
  kill("1");
  settle();
  enter(3);
  EXPECT_EQ(checkpoints_asked_of("0"), 0) << "the last one was written a moment ago";
}

TEST_F(CheckpointRequests, OneUnderWayIsNotAskedForAgainAndOneThatFailedIsAfterTheInterval) {
  pass(5);
  EXPECT_EQ(checkpoints_asked_of("0"), 1);
  pass(4);
  EXPECT_EQ(checkpoints_asked_of("0"), 0);
  disk_is_full_ = true;
  EXPECT_THROW(hand_in_checkpoint("0", 7), Error);
  EXPECT_EQ(checkpoints_asked_of("0"), 0);
  pass(1);
  EXPECT_EQ(checkpoints_asked_of("0"), 1);
  disk_is_full_ = false;
  hand_in_checkpoint("0", 9);
  pass(4.9);
  EXPECT_EQ(checkpoints_asked_of("0"), 0);
  pass(0.2);
  EXPECT_EQ(checkpoints_asked_of("0"), 1);
}

// What nodes say between the announcement's record on the disk and the announcement itself is in the queue when the next generation
// holds, and was said in the one before.
class OldEvents : public ConductorTest {
 protected:
  void SetUp() override {
    const auto remember = options_.announced;
    options_.announced = [this, remember](const coord::Generation& generation) {
      remember(generation);
      if (generation.number == 2) speak_too_late();
    };
    for (const char* name : {"0", "1", "2"}) join(name);
    start();
    enter(1);
  }
  void speak_too_late() {
    late_messages_();
    nodes_.at("0").at(77, "said it");  // behind it on the same stream
    EXPECT_TRUE(wait_until([this] { return coordinator_.progress("0").step == 77; }));
  }

  std::function<void()> late_messages_;
};

TEST_F(OldEvents, AFinishOfTheGenerationBeforeIsNotTheEnd) {
  late_messages_ = [this] { nodes_.at("0").send({.kind = std::string(kFinishReport), .bytes = pack(Finish{})}); };
  kill("2");
  settle();
  enter(2);
  EXPECT_FALSE(nodes_.at("0").dismissed());
}

TEST_F(OldEvents, APauseOfTheGenerationBeforeIsNoneOfThisOne) {
  late_messages_ = [this] { nodes_.at("0").send({.kind = std::string(kPausedReport), .bytes = pack(Cursor{})}); };
  kill("2");
  settle();
  enter(2);
  EXPECT_EQ(announced().number, 2U);
}

TEST_F(OldEvents, ARankOfTheGenerationBeforeIsNotBlamed) {
  late_messages_ = [this] { nodes_.at("0").fail({.rank = 0, .code = unavailable, .text = "gone", .blames_peer = true, .peer = 1}); };
  kill("1");  // rank 1 is node 2 from here on
  settle();
  enter(2);
  pass(10);
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr("but both are here")));
  EXPECT_EQ(announced().number, 2U);
}

// As after a coordinator that was stopped for a while: all connections are gone, and all nodes come back before they are named.
TEST_F(CheckpointRequests, NodesThatAreBackAtOnceAreWaitedForThroughTheirPause) {
  const std::vector<std::string> names{"0", "1", "2"};
  for (const std::string& name : names) kill(name);
  for (const std::string& name : names) join(name);
  pass_ticks();
  settle();
  EXPECT_THAT(said(), testing::HasSubstr("0 nodes of at least 1 here: waiting for more"));
  pass(1);
  enter(2);
  EXPECT_EQ(announced().members.size(), 3U);
}

class FailedStarts : public ConductorTest {
 protected:
  FailedStarts() {
    options_.job.startable = {"0", "1", "2"};
    options_.start = [this](const std::string& name) {
      ++starts_[name];
      if (cannot_fork_) throw Error{resource_exhausted, "cannot start trireme: Resource temporarily unavailable"};
    };
    for (const char* name : {"0", "1", "2"}) join(name);
  }
  void end_process(const std::string& name) {
    kill(name);
    {
      const std::lock_guard lock(mutex_);
      exits_.push_back({.node = name, .how = "killed by SIGKILL"});
    }
    pass_ticks();
  }

  std::map<std::string, std::atomic<int>> starts_;
  std::atomic<bool> cannot_fork_{false};
};

TEST_F(FailedStarts, AreSaidAndTriedAgainLaterWhileTheOthersGoOn) {
  start();
  enter(1);
  cannot_fork_ = true;
  end_process("2");
  settle();
  enter(2);
  pass(1);
  EXPECT_EQ(starts_["2"], 1);
  EXPECT_THAT(said(), testing::HasSubstr("node 2 could not be started: cannot start trireme: Resource temporarily unavailable"));
  pass(1.9);
  EXPECT_EQ(starts_["2"], 1) << "the pause has doubled";
  cannot_fork_ = false;
  pass(0.2);
  EXPECT_EQ(starts_["2"], 2);
  join("2");
  enter_regrouped(3);
}

TEST_F(FailedStarts, OfTheFirstNodesAreTheJobs) {
  options_.job.nodes.emplace_back("3");
  options_.job.startable.insert("3");
  cannot_fork_ = true;
  start();
  EXPECT_THROW(result_.get(), Error);
}

class OutOfMemory : public FailedStarts {
 protected:
  void end_for_memory(const std::string& name) {
    nodes_.erase(name);
    const std::lock_guard lock(mutex_);
    exits_.push_back({.node = name, .how = "killed by SIGKILL, out of memory: the limit is 600 MiB", .out_of_memory = true});
  }
};

TEST_F(OutOfMemory, TwiceInARowStopsTheJobInWords) {
  start();
  enter(1);
  end_for_memory("2");
  pass_ticks();
  settle();
  enter(2);
  EXPECT_THAT(said(), testing::HasSubstr("killed by SIGKILL, out of memory"));
  pass(1.1);
  join("2");
  enter_regrouped(3);
  end_for_memory("2");
  ASSERT_TRUE(wait_until([this] { return result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; })) << said();
  EXPECT_THAT(thrown_error([&] { result_.get(); }),
              testing::AllOf(testing::HasSubstr("ended twice in a row: killed by SIGKILL, out of memory"), testing::HasSubstr("--resume")));
}

class Acknowledgements : public ConductorTest {
 protected:
  Acknowledgements() {
    options_.write_records = [this] {
      written_ = observer_.last.load();
      return [this] { return is_written_.load(); };
    };
    for (const char* name : {"0", "1", "2"}) join(name);
    start();
    enter(1);
  }
  std::atomic<std::int64_t> written_{0};
  std::atomic<bool> is_written_{true};
};

TEST_F(Acknowledgements, AreSentOnceASecondOfWhatIsWritten) {
  for (const std::int64_t step : {1, 2, 3})
    nodes_.at("0").send({.kind = std::string(kStepReport), .bytes = pack(StepRecord{.step = step, .epoch = 0})});
  ASSERT_TRUE(wait_until([this] { return observer_.last == 3; }));
  pass(1);
  EXPECT_TRUE(wait_until([this] { return acknowledged_to("1") == 3; }));
  EXPECT_EQ(written_, 3);
  pass(1);
  EXPECT_EQ(acknowledged_to("1"), 3);
}

// A disk may hang: what is recorded meanwhile must outlive this process at the nodes.
TEST_F(Acknowledgements, WaitForTheDiskAndTheLoopDoesNot) {
  is_written_ = false;
  nodes_.at("0").send({.kind = std::string(kStepReport), .bytes = pack(StepRecord{.step = 1, .epoch = 0})});
  ASSERT_TRUE(wait_until([this] { return observer_.last == 1; }));
  pass(1);
  nodes_.at("0").send({.kind = std::string(kStepReport), .bytes = pack(StepRecord{.step = 2, .epoch = 0})});
  ASSERT_TRUE(wait_until([this] { return observer_.last == 2; }));
  EXPECT_NE(acknowledged_to("1"), 1);
  is_written_ = true;
  pass(1);
  EXPECT_TRUE(wait_until([this] { return acknowledged_to("1") == 2; }));
}

}  // namespace
}  // namespace trireme::train
