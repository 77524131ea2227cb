// SPDX-License-Identifier: Apache-2.0
// Tests of servers to which every push is an update of its own.
#include <gmock/gmock.h>

#include "trireme/ps/testing/cluster.h"

namespace trireme::ps {
namespace {

using testing::ElementsAre;

constexpr double kRate = 0.05;
const std::string kPlain = "name = 'sgd'";

Ledger::Options leases(std::int64_t samples, int workers, std::int64_t each = 5) {
  return {.begin = 0, .end = samples, .batch_size = each * workers, .workers = workers};
}

void expect_all_used_once(Server& lead, std::size_t samples) {
  EXPECT_TRUE(lead.is_complete());
  std::vector<int> used(samples);
  for (const WorkDone& work : lead.take_done())
    for (std::int64_t sample = work.lease.begin; sample < work.lease.end; ++sample) ++used[static_cast<std::size_t>(sample)];
  EXPECT_THAT(used, testing::Each(1));
}

TEST(Async, AppliesEveryPushOnce) {
  Cluster cluster({.workers = 4});
  cluster.begin(leases(500, 4));
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  for (const auto& host : cluster.hosts) {
    EXPECT_TRUE(host->server.await_retired(Seconds{10}));
    EXPECT_EQ(host->applied.size(), 100U);
    EXPECT_EQ(host->server.take_load().pushes, 100);
  }
  std::size_t acknowledged = 0;
  for (const auto& worker : cluster.workers) acknowledged += worker->acknowledged.size();
  EXPECT_EQ(acknowledged, 100U);
  expect_all_used_once(cluster.hosts[0]->server, 500);
}

TEST(Async, OfOneWorkerIsWhatOneProcessDoes) {
  for (const std::string optimizer : {"name = 'sgd'\nmomentum = 0.9", "name = 'adam'"}) {
    Cluster cluster({.servers = 3, .workers = 1, .optimizer = optimizer});
    cluster.begin(leases(100, 1));
    cluster.workers[0]->work(kRate);
    EXPECT_EQ(cluster.values(), plain_loop(cluster, kRate, 100, 5).parameters);
    EXPECT_EQ(cluster.workers[0]->arrays.parameters, cluster.values());
  }
}

// Both compute with the first values; the second's push finds one update more.
void push_one_after_the_other(Cluster& cluster) {
  cluster.begin(leases(20, 2));
  std::vector<Lease> leases;
  for (const auto& worker : cluster.workers) {
    leases.push_back(*worker->client.next_lease());
    gradients_of(worker->arrays.parameters, leases.back().begin, leases.back().end, worker->gradients);
  }
  for (std::size_t worker = 0; worker < 2; ++worker) {
    cluster.workers[worker]->push(leases[worker], kRate);
    cluster.workers[worker]->client.settle();
  }
}

TEST(Async, MeasuresStaleness) {
  Cluster cluster({.workers = 2, .optimizer = kPlain});
  push_one_after_the_other(cluster);
  const std::vector<WorkDone> done = cluster.hosts[0]->server.take_done();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].staleness, 0);
  EXPECT_EQ(done[1].staleness, 1);
  EXPECT_EQ(done[1].samples, 5);
  EXPECT_EQ(done[1].rate, kRate);
  for (const auto& host : cluster.hosts) {
    const ServerLoad load = host->server.take_load();
    EXPECT_EQ(load.staleness[0], 1);
    EXPECT_EQ(load.staleness[1], 1);
    EXPECT_GT(load.bytes_in, 0);
    EXPECT_GT(load.bytes_out, 0);
    EXPECT_GT(load.busy_seconds, 0);
  }
}

TEST(Async, DampsTheRateOfStalePushes) {
  for (const bool damped : {false, true}) {
    Cluster cluster({.workers = 2, .rules = {.damped = damped}, .optimizer = kPlain});
    push_one_after_the_other(cluster);
    Arrays expected = cluster.start();
    cluster.update(expected, cluster.workers[0]->gradients, kRate, 1);
    cluster.update(expected, cluster.workers[1]->gradients, damped ? kRate / 2 : kRate, 2);
    EXPECT_EQ(cluster.values(), expected.parameters);
  }
}

TEST(Async, ReadsValuesAndSlotsAsTheyAre) {
  Cluster cluster({.workers = 2});
  push_one_after_the_other(cluster);
  Worker& first = *cluster.workers[0];
  EXPECT_NE(first.arrays.parameters, cluster.values());  // the other has pushed since
  first.client.fetch();
  EXPECT_EQ(first.arrays.parameters, cluster.values());
  std::vector<float> velocity(first.gradients.size());
  first.client.fetch_slots({velocity});
  for (const Piece& piece : cluster.map->pieces()) {
    const auto& slot = cluster.hosts[static_cast<std::size_t>(piece.server)]->arrays.slots[0];
    EXPECT_TRUE(std::equal(slot.begin() + piece.begin, slot.begin() + piece.end, velocity.begin() + piece.begin));
  }
}

TEST(Async, ABeginBeforeForwardDoesNotWaitForTheLastAnswer) {
  Cluster cluster({.workers = 1});
  cluster.begin(leases(20, 1));
  Worker& worker = *cluster.workers[0];
  while (const std::optional<Lease> lease = worker.client.next_lease()) {
    worker.client.begin(*lease, kRate, lease->size());
    worker.need_all();
    gradients_of(worker.arrays.parameters, lease->begin, lease->end, worker.gradients);
    for (std::size_t slice = 0; slice < cluster.space.slices().size(); ++slice) worker.client.ready(slice);
    worker.client.report_step({.samples = lease->size()});
  }
  worker.client.settle();
  EXPECT_EQ(cluster.values(), plain_loop(cluster, kRate, 20, 5).parameters);
  EXPECT_GT(worker.client.bytes_out(), 4 * cluster.space.size() * 4);
}

struct Bounded {
  Rules rules;
  std::int64_t least = 0, most = 0;  // that the fastest gets ahead
};

class BoundedTest : public testing::TestWithParam<Bounded> {};

TEST_P(BoundedTest, NoWorkerGetsFurtherAhead) {
  Cluster cluster({.workers = 3, .rules = GetParam().rules});
  cluster.begin(leases(600, 3));
  cluster.run([](Worker& worker, std::size_t number) {
    worker.work(kRate, [number] {
      if (number == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
  });
  expect_all_used_once(cluster.hosts[0]->server, 600);
  for (const auto& host : cluster.hosts) {
    const ServerLoad load = host->server.take_load();
    EXPECT_LE(load.most_ahead, GetParam().most);
    EXPECT_GE(load.most_ahead, GetParam().least);
    EXPECT_GT(load.held_seconds, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, BoundedTest,
                         testing::Values(Bounded{{.mode = Mode::ssp, .staleness = 1}, 1, 1},
                                         Bounded{{.mode = Mode::ssp, .staleness = 4}, 4, 4},
                                         Bounded{{.mode = Mode::dssp, .staleness_min = 1, .staleness_max = 5}, 1, 5}));

// The same on one thread: the answer to a push that is too far ahead waits for the other's.
TEST(Ssp, AnAnswerIsHeldUntilTheSlowestComesAfter) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::ssp, .staleness = 1}});
  cluster.begin(leases(40, 2));
  Worker& fast = *cluster.workers[0];
  Worker& slow = *cluster.workers[1];
  fast.step(*fast.client.next_lease(), kRate);
  EXPECT_FALSE(fast.client.unfinished());
  fast.step(*fast.client.next_lease(), kRate);
  EXPECT_TRUE(fast.client.unfinished());
  slow.step(*slow.client.next_lease(), kRate);
  EXPECT_FALSE(slow.client.unfinished());
  EXPECT_FALSE(fast.client.unfinished());
  EXPECT_EQ(fast.arrays.parameters, cluster.values());  // as they were then
  fast.step(*fast.client.next_lease(), kRate);
  EXPECT_TRUE(fast.client.unfinished());
  slow.client.retire();
  EXPECT_FALSE(fast.client.unfinished());
}

}  // namespace
}  // namespace trireme::ps
