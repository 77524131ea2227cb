// SPDX-License-Identifier: Apache-2.0
// Workers on their own between two averages: what they are asked is received soon, and a step whose average breaks is done once.
#include <gmock/gmock.h>

#include <barrier>
#include <map>

#include "trireme/base/failpoint.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

// A million steps between two averages; only one worker is asked.
TEST(LocalSgd, RequestsAreReceivedLongBeforeTheNextAverage) {
  for (const char* kind : {"stop", "checkpoint", "regroup"}) {
    Cluster cluster({"strategy.name=local_sgd", "strategy.steps=1048576", "train.epochs=40"});
    cluster.slowness = 1e5;  // the second worker's steps seem to take minutes, so the next one is late enough
    cluster.train(2, [&](Trainer& trainer, Observer& observer, int rank) {
      Requests agreed;
      while (!agreed.any() && !trainer.finished()) {
        const bool asks = rank == 1 && trainer.cursor().step >= 7;
        const std::string what = asks ? kind : "";
        agreed = trainer.advance(observer, {.stop = what == "stop", .checkpoint = what == "checkpoint", .regroup = what == "regroup"});
      }
      EXPECT_TRUE(agreed.any()) << kind;
      EXPECT_LE(trainer.cursor().step, 10) << kind;
    });
  }
}

// Steps that take a millisecond: agreements get rarer, but not rarer than once in as many steps as there were before.
TEST(LocalSgd, AgreementsGetRarerWithTheSteps) {
  const Cluster cluster({"strategy.name=local_sgd", "strategy.steps=1048576", "train.epochs=40"});
  cluster.train(2, [&](Trainer& trainer, Observer& observer, int) {
    bool stopped = false;
    while (!stopped && !trainer.finished()) stopped = trainer.advance(observer, {.stop = trainer.cursor().step >= 30}).stop;
    EXPECT_TRUE(stopped);
    EXPECT_LE(trainer.cursor().step, 70);
  });
}

#ifdef TRIREME_FAILPOINTS

TEST(LocalSgd, AStepWhoseAverageBreaksIsDoneOnce) {
  const Cluster cluster({"strategy.name=local_sgd", "strategy.steps=4", "train.epochs=2"});
  comm::MemoryStore next;
  std::barrier both_there(2, []() noexcept { arm_failpoints("local_sgd.mid_average:1:throw", ""); });
  const std::vector<Trained> team = cluster.train(2, [&](Trainer& trainer, Observer& observer, int rank) {
    const auto now = [&] { return std::vector<float>(trainer.replica().parameters().begin(), trainer.replica().parameters().end()); };
    std::map<std::int64_t, std::vector<float>> after;  // each step
    both_there.arrive_and_wait();
    bool broke = false;
    while (!broke) {
      try {
        trainer.advance(observer);
        after[trainer.cursor().step] = now();
      } catch (const Error&) {
        broke = true;
        trainer.abandon();  // so that the other one learns of it
      }
    }
    EXPECT_EQ(now(), after[trainer.cursor().step]) << "worker " << rank << " after step " << trainer.cursor().step;
    trainer.enter(cluster.meet({.store = next, .rank = rank, .size = 2, .generation = 2}));
    EXPECT_EQ(trainer.cursor().step, 4);
    run_to_end(trainer, observer);
  });
  arm_failpoints("", "");
  EXPECT_EQ(team[0].parameters, team[1].parameters);
  for (const EpochRecord& epoch : team[0].memory.epochs) EXPECT_EQ(epoch.train.samples, 330);
}

#endif

}  // namespace
}  // namespace trireme::train
