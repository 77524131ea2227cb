// SPDX-License-Identifier: Apache-2.0
// A conductor and nodes without a training, on loopback: what becomes of those that stall, and of reports about peers.
#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <thread>

#include "trireme/base/testing/wait_until.h"
#include "trireme/coord/testing/coordinator.h"
#include "trireme/train/conductor/conductor.h"
#include "trireme/train/messages/progress_reporter.h"

namespace trireme::train {
namespace {

using coord::Membership;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Three nodes in generation 1. Heartbeats come ten times per second.
class ConductorStalls : public testing::Test {
 protected:
  ConductorStalls()
      : conductor_(
            1 << 20, [](Checkpoint) { return CheckpointRecord{}; }, clock_),
        coordinator_(options()) {
    running_ = std::async(std::launch::async, [this] { conduct(); });
    for (const char* name : {"0", "1", "2"}) {
      nodes_.push_back(coord::join(coordinator_, name));
      nodes_.back().ready(coord::kFingerprint);
    }
    for (Membership& node : nodes_) node.await_generation(0, coord::kPatience);
    enter(nodes_[0]);
  }
  ~ConductorStalls() override {
    nodes_[0].send({.kind = std::string(kFinishReport), .bytes = pack(Finish{.interrupted = true})});
    for (Membership& node : nodes_) node.leave();
    running_.wait();
  }

  coord::Coordinator::Options options() {
    coord::Coordinator::Options out = coord::coordinator_options();
    out.silence = Seconds(0.5);
    out.methods = conductor_.methods();
    return out;
  }
  void conduct() {
    conductor_.run(coordinator_,
                   {.job = {.nodes = {"0", "1", "2"}, .plan = parse_plan("allreduce"), .stuck = Seconds(0.5), .silence = Seconds(0.5)},
                    .say =
                        [this](const std::string& line) {
                          const std::lock_guard lock(mutex_);
                          said_ += line + "\n";
                        }},
                   observer_, stop_);
  }
  static void enter(Membership& lead) { lead.send({.kind = std::string(kEnteredReport), .bytes = pack(Cursor{.step = 5})}); }
  std::string said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  void pass_steps(std::int64_t first) {
    for (std::int64_t step = first; step < first + 6; step += 3) {
      for (Membership& node : nodes_) node.at(step, "compute");
      std::this_thread::sleep_for(Seconds(0.3));  // heartbeats are what is waited for; they have no other end to look at
    }
  }

  SteadyClock clock_;
  Conductor conductor_;
  coord::Coordinator coordinator_;
  Observer observer_;
  std::atomic<int> stop_ = 0;
  mutable std::mutex mutex_;
  std::string said_;
  std::vector<Membership> nodes_;
  std::future<void> running_;
};

TEST_F(ConductorStalls, TheOneThatReadsForEverIsLeftOutAndTakenBackWhenItMoves) {
  pass_steps(10);
  nodes_[1].at(17, "wait");
  for (Membership* const node : {&nodes_[0], &nodes_[2]}) {
    node->at(17, "exchange");
    node->peer_wait()->begin(1);
  }
  for (Membership* const node : {&nodes_[0], &nodes_[2]}) EXPECT_EQ(node->await_generation(1, coord::kPatience).size(), 2);
  ASSERT_TRUE(wait_until([&] { return nodes_[1].announced() >= 2; }));
  EXPECT_TRUE(nodes_[1].cancellation()->is_cancelled()) << "it is informed that its generation is over";
  EXPECT_THAT(said(), AllOf(ContainsRegex("rank 1 on host1 is stuck in step 17 \\(wait\\): it has been reading data for [0-9]+ s while 2 "
                                          "others wait for it"),
                            Not(HasSubstr("misses"))));
  for (Membership* const node : {&nodes_[0], &nodes_[2]}) node->peer_wait()->end();
  enter(nodes_[0]);
  nodes_[1].at(17, kRegroup);  // the read has come back
  std::optional<coord::Message> asked;
  while (!asked || !unpack_requests(asked->bytes).regroup) asked = nodes_[0].receive(coord::kPatience);
  nodes_[0].send({.kind = std::string(kPausedReport), .bytes = pack(Cursor{.step = 20})});
  for (Membership& node : nodes_) EXPECT_EQ(node.await_generation(2, coord::kPatience).size(), 3);
  EXPECT_THAT(said(), HasSubstr("node 1 on host1 moves again"));
  enter(nodes_[0]);
}

// In a ring rank 0 can't reach rank 2, which waits for rank 1, which computes.
TEST_F(ConductorStalls, AComplaintStrikesTheOneAllWaitForAndNotTheOneThatComplains) {
  nodes_[1].at(17, "compute");
  nodes_[2].at(17, "exchange");
  nodes_[2].peer_wait()->begin(1);
  nodes_[0].at(17, "exchange");
  nodes_[0].peer_wait()->begin(2);
  while (coordinator_.progress("0").waits_for != 2 || coordinator_.progress("2").waits_for != 1 ||
         coordinator_.progress("1").phase != "compute")
    std::this_thread::sleep_for(Seconds(0.001));
  nodes_[0].fail({.rank = 0, .code = deadline_exceeded, .text = "rank 2 kept silent for 60 s", .blames_peer = true, .peer = 2});
  for (Membership& node : nodes_) EXPECT_EQ(node.await_generation(1, coord::kPatience).size(), 3);
  EXPECT_THAT(said(), HasSubstr("rank 0 on host0 misses rank 1 on host1, but both are here (rank 2 kept silent for 60 s)"));
  enter(nodes_[0]);
}

}  // namespace
}  // namespace trireme::train
