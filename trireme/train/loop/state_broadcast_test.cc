// SPDX-License-Identifier: Apache-2.0
// A team that breaks while the state goes from one worker to the others: what each has afterwards is whole, the old state or the new.
#include <gmock/gmock.h>

#include <atomic>
#include <barrier>
#include <map>

#include "trireme/base/failpoint.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

#ifdef TRIREME_FAILPOINTS

class StateBroadcast : public testing::TestWithParam<const char*> {
 public:
  ~StateBroadcast() override { arm_failpoints("", ""); }

  // One worker fails at the place; those who have sent or got everything by then may not notice.
  void enter_and_break(Trainer& trainer, Team team) {
    try {
      trainer.enter(std::move(team));
    } catch (const Error&) {
      ++broken_;
    }
  }
  void break_and_meet_again(int survivors);

 protected:
  std::function<void()> arm() const {
    return [place = GetParam()] { arm_failpoints(fmt::format("{}:1:throw", place), ""); };
  }
  std::atomic<int> broken_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Breaks, StateBroadcast,
                         testing::Values("state.cursor_received", "state.parameters_received", "state.slots_received"),
                         [](const auto& test) { return std::string(test.param).substr(6); });

// What belongs together.
struct Known {
  std::vector<float> parameters;
  std::vector<std::vector<float>> slots;
  bool operator==(const Known&) const = default;
};

Known known(Trainer& trainer) {
  const Checkpoint all = trainer.checkpoint();
  return {.parameters = all.parameters, .slots = all.slots};
}

// Three workers, each a step further than the one before, meet again; the first that has received so much breaks the team. A worker that
// meets others then, with the one that came furthest or without, has weights and slots that belong to the step that it says.
void StateBroadcast::break_and_meet_again(int survivors) {
  const Cluster cluster({"train.epochs=1"});
  comm::MemoryStore second, third;
  std::mutex mutex;
  std::map<std::int64_t, Known> states;  // by step
  std::barrier all_there(3, [arm = arm()]() noexcept { arm(); });
  cluster.train(3, [&](Trainer& trainer, Observer& observer, int rank) {
    for (int i = 0; i < 2; ++i) trainer.advance(observer);
    trainer.enter(Team::alone());
    for (int i = 0; i < rank; ++i) trainer.advance(observer);
    {
      const std::lock_guard lock(mutex);
      states[trainer.cursor().step] = known(trainer);
    }
    all_there.arrive_and_wait();
    enter_and_break(trainer, cluster.meet({.store = second, .rank = rank, .size = 3, .generation = 2}));
    const std::span<const float> now = trainer.replica().parameters();
    EXPECT_EQ(std::vector<float>(now.begin(), now.end()), states.at(trainer.cursor().step).parameters) << "worker " << rank;
    if (rank >= survivors) return void(trainer.enter(Team::alone()));
    trainer.enter(cluster.meet({.store = third, .rank = rank, .size = survivors, .generation = 3}));
    EXPECT_GE(trainer.cursor().step, survivors + 1);
    EXPECT_EQ(known(trainer), states.at(trainer.cursor().step)) << "worker " << rank << " at step " << trainer.cursor().step;
  });
  EXPECT_GE(broken_, 1);
}

TEST_P(StateBroadcast, LeavesEveryWorkerWithAWholeState) { break_and_meet_again(3); }

TEST_P(StateBroadcast, AlsoIfTheSenderIsLost) { break_and_meet_again(2); }

// A worker that came anew and got half of the state has nothing, as before.
TEST_P(StateBroadcast, HalfReceivedByANewcomerIsNothing) {
  const Cluster cluster({"train.epochs=1"});
  comm::MemoryStore second;
  std::barrier both_there(2, [arm = arm()]() noexcept { arm(); });
  const auto take_part = [&](int rank) {
    Trainer trainer({.job = cluster.job, .data = cluster.data, .clock = cluster.clock, .team_follows = true}, cluster.cache());
    const std::vector<float> initial(trainer.replica().parameters().begin(), trainer.replica().parameters().end());
    Memory memory;
    if (rank == 1) trainer.enter(Team::alone());
    for (int i = 0; rank == 1 && i < 3; ++i) trainer.advance(memory);
    both_there.arrive_and_wait();
    enter_and_break(trainer, cluster.meet({.store = second, .rank = rank, .size = 2, .generation = 2}));
    if (rank == 1) return;
    Position asked{.generation = 99};
    trainer.enter(Team::alone(), [&](const Position& newer_than) {
      asked = newer_than;
      return std::optional<Checkpoint>();
    });
    EXPECT_EQ(asked, Position{});
    EXPECT_EQ(trainer.cursor().step, 0);
    EXPECT_EQ(trainer.checkpoint().parameters, initial);
  };
  std::jthread other(take_part, 1);
  take_part(0);
  EXPECT_GE(broken_, 1);
}

TEST_P(StateBroadcast, AndTheTrainingGoesOnAsUndisturbed) {
  const Cluster cluster({"train.epochs=2"});
  const std::vector<Trained> undisturbed = cluster.train(2);
  comm::MemoryStore second, third;
  std::barrier both_there(2, [arm = arm()]() noexcept { arm(); });
  const std::vector<Trained> team = cluster.train(2, [&](Trainer& trainer, Observer& observer, int rank) {
    for (int i = 0; i < 4; ++i) trainer.advance(observer);
    both_there.arrive_and_wait();
    enter_and_break(trainer, cluster.meet({.store = second, .rank = rank, .size = 2, .generation = 2}));
    trainer.enter(cluster.meet({.store = third, .rank = rank, .size = 2, .generation = 3}));
    EXPECT_EQ(trainer.cursor().step, 4);
    run_to_end(trainer, observer);
  });
  EXPECT_GE(broken_, 1);
  EXPECT_EQ(team[0].parameters, undisturbed[0].parameters);
  EXPECT_EQ(team[1].checkpoint.slots, undisturbed[0].checkpoint.slots);
}

// Servers have begun, and a worker may have pushed: the slots of this node are its server's, and need not belong to its parameters.
TEST(StateAtServers, IsNotANodesOwnOnceAStretchHasBegun) {
  const Cluster cluster({"train.epochs=1", "strategy.name=ps", "strategy.servers=0", "strategy.placement=shared"});
  std::barrier both_there(2, []() noexcept { arm_failpoints("ps.stretch_begun:1:throw ps.stretch_begun:1:throw", ""); });
  cluster.train(2, [&](Trainer& trainer, Observer& observer, int rank) {
    both_there.arrive_and_wait();
    EXPECT_THROW(trainer.advance(observer), Error);
    comm::MemoryStore own;  // the other one is lost
    Position asked{.generation = 99};
    trainer.enter(cluster.meet({.store = own, .rank = 0, .size = 1, .generation = 2}), [&](const Position& newer_than) {
      asked = newer_than;
      return std::optional<Checkpoint>();
    });
    EXPECT_EQ(asked, Position{}) << rank;
  });
  arm_failpoints("", "");
}

#endif

}  // namespace
}  // namespace trireme::train
