// SPDX-License-Identifier: Apache-2.0
// Steps that are skipped among servers: they count as pushes, and change nothing; values that are not finite end the training.
#include <gmock/gmock.h>

#include <limits>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/ps/testing/cluster.h"

namespace trireme::ps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kRate = 0.05;
constexpr std::int64_t kSamples = 60;
constexpr std::int64_t kBatch = 10;

void skip(Worker& worker, const Lease& lease) {
  worker.need_all();
  worker.client.push_void(lease, kRate, lease.size());
  worker.client.report_step({.samples = lease.size(), .is_skipped = true});
}

// All samples; a lease that `is_bad` is skipped.
template <class IsBad>
void work(Worker& worker, const IsBad& is_bad) {
  while (const std::optional<Lease> lease = worker.client.next_lease()) {
    if (is_bad(*lease))
      skip(worker, *lease);
    else
      worker.step(*lease, kRate);
  }
  worker.client.settle();
  worker.client.retire();
}

// What one process does that leaves out the batch from `left_out` on.
Arrays loop_without(const Cluster& cluster, std::int64_t left_out) {
  Arrays arrays = cluster.start();
  std::vector<float> gradients(arrays.parameters.size());
  std::int64_t step = 0;
  for (std::int64_t begin = 0; begin < kSamples; begin += kBatch) {
    if (begin == left_out) continue;
    gradients_of(arrays.parameters, begin, begin + kBatch, gradients);
    cluster.update(arrays, gradients, kRate, ++step);
  }
  return arrays;
}

Rules rules_of(Mode mode) { return {.mode = mode, .staleness = 2, .staleness_min = 1, .staleness_max = 3}; }

class VoidPushes : public testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, VoidPushes, testing::Values(Mode::async, Mode::ssp, Mode::dssp, Mode::bsp));

// Adam counts updates: a skipped one is none.
TEST_P(VoidPushes, OfOneWorkerLeaveTheRestAsIfTheyHadNotBeen) {
  Cluster cluster({.workers = 1, .rules = rules_of(GetParam()), .optimizer = "name = 'adam'"});
  const bool in_step = GetParam() == Mode::bsp;
  cluster.begin({.begin = 0, .end = kSamples, .batch_size = kBatch, .workers = 1, .in_step = in_step});
  cluster.run([&](Worker& worker, std::size_t) { work(worker, [](const Lease& lease) { return lease.begin == 20; }); });
  EXPECT_EQ(cluster.values(), loop_without(cluster, 20).parameters);
  EXPECT_EQ(cluster.workers[0]->arrays.parameters, cluster.values());
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());  // its samples are used
  int skipped = 0;
  for (const WorkDone& done : cluster.hosts[0]->server.take_done()) {
    skipped += done.faulty.empty() ? 0 : 1;
    EXPECT_EQ(done.faulty.empty(), done.lease.begin != 20);
  }
  EXPECT_EQ(skipped, 1);
}

// One of three: the batch is used by all or by none, and each worker learns that it was not.
TEST(VoidRounds, ChangeNothingForAnyWorker) {
  Cluster cluster({.workers = 3, .rules = rules_of(Mode::bsp), .optimizer = "name = 'adam'"});
  cluster.begin({.begin = 0, .end = kSamples, .batch_size = kBatch, .workers = 3, .in_step = true});
  std::vector<int> voids(3);
  cluster.run([&](Worker& worker, std::size_t number) {
    while (const std::optional<Lease> lease = worker.client.next_lease()) {
      worker.need_all();
      voids[number] += worker.client.reset_void() ? 1 : 0;
      if (number == 1 && lease->round == 2)
        skip(worker, *lease);
      else
        worker.step(*lease, kRate);
    }
    worker.client.settle();
    voids[number] += worker.client.reset_void() ? 1 : 0;
    worker.client.retire();
  });
  EXPECT_THAT(voids, ElementsAre(1, 1, 1));
  // Pushes are summed in the order in which they come, and Adam amplifies a rounding; a round more or less would be 5e-2.
  expect_near(cluster.values(), loop_without(cluster, 20).parameters, 1e-5);
  for (const auto& worker : cluster.workers) EXPECT_EQ(worker->arrays.parameters, cluster.values());
}

// Answers come piece by piece. A worker that forgets a void round when it learns of it must not forget again at the next piece.
TEST(VoidRounds, AreReportedOnceAlsoIfTheirPiecesAreAnsweredApart) {
  Cluster cluster({.workers = 2, .rules = rules_of(Mode::bsp)});
  cluster.begin({.begin = 0, .end = kSamples, .batch_size = kBatch, .workers = 2, .in_step = true});
  Worker& good = *cluster.workers[0];
  Worker& bad = *cluster.workers[1];
  const Lease lease = *good.client.next_lease();
  skip(bad, *bad.client.next_lease());
  good.need_all();
  good.client.begin(lease, kRate, lease.size());
  int voids = 0;
  for (std::size_t slice = cluster.space.slices().size(); slice-- > 0;) {
    good.client.ready(slice);
    good.client.needed(slice);
    voids += good.client.reset_void() ? 1 : 0;
  }
  good.client.settle();
  voids += good.client.reset_void() ? 1 : 0;
  EXPECT_EQ(voids, 1);
  for (Worker* worker : {&bad, &good}) worker->client.disconnect();
}

// A worker that skips is not behind the others.
TEST(VoidPushesInSsp, CountAsSteps) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::ssp, .staleness = 1}});
  cluster.begin({.begin = 0, .end = 400, .batch_size = 20, .workers = 2});
  Worker& bad = *cluster.workers[0];
  Worker& good = *cluster.workers[1];
  for (int step = 0; step < 5; ++step) {
    skip(bad, *bad.client.next_lease());
    bad.client.settle();
    good.step(*good.client.next_lease(), kRate);
    good.client.settle();  // would wait for the other one from the second on
  }
  for (Worker* worker : {&bad, &good}) worker->client.disconnect();
}

// A worker lost after it: other workers do not get the samples of a push that every piece has.
TEST(VoidPushesOfALostWorker, AreUsed) {
  Cluster cluster({.workers = 2});
  cluster.begin({.begin = 0, .end = 40, .batch_size = 20, .workers = 2});
  Worker& lost = *cluster.workers[0];
  const Lease lease = *lost.client.next_lease();
  lost.need_all();
  lost.client.push_void(lease, kRate, lease.size());
  lost.client.settle();
  lost.client.disconnect();
  cluster.workers[1]->client.disconnect();
  cluster.regroup({"w1"}, {});
  Worker& other = *cluster.workers[1];
  cluster.connect(other);
  std::vector<std::int64_t> begins;
  work(other, [&](const Lease& next) {
    begins.push_back(next.begin);
    return false;
  });
  EXPECT_EQ(std::ranges::count(begins, lease.begin), 0);
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
}

// The worker learns that it is to blame, not that a server is gone; and the server does not wait for it.
TEST(NonFinitePushes, EndTheTrainingAtTheWorkerAndAtTheServer) {
  Cluster cluster({.servers = 1, .workers = 1});
  cluster.begin({.begin = 0, .end = 40, .batch_size = 20, .workers = 1});
  Worker& worker = *cluster.workers[0];
  const std::vector<float> before = cluster.values();
  const Lease lease = *worker.client.next_lease();
  std::ranges::fill(worker.gradients, std::numeric_limits<float>::quiet_NaN());
  worker.push(lease, kRate);
  EXPECT_THAT(thrown_error([&] { worker.client.settle(); }), HasSubstr("out_of_range: worker 'w0' pushed gradients to piece"));
  EXPECT_EQ(worker.client.missed_server(), -1);
  EXPECT_THAT(thrown_error([&] { cluster.hosts[0]->server.await_retired(Seconds(20)); }), HasSubstr("out_of_range: worker 'w0'"));
  EXPECT_EQ(cluster.values(), before);
}

// Each is a number, and their sum is none.
TEST(NonFiniteSums, AreNotTaken) {
  Cluster cluster({.servers = 1, .workers = 2, .rules = rules_of(Mode::bsp)});
  cluster.begin({.begin = 0, .end = 40, .batch_size = 20, .workers = 2, .in_step = true});
  const std::vector<float> before = cluster.values();
  for (const auto& worker : cluster.workers) {
    std::ranges::fill(worker->gradients, std::numeric_limits<float>::max());
    worker->push(*worker->client.next_lease(), kRate);
  }
  EXPECT_THAT(thrown_error([&] { cluster.hosts[0]->server.await_retired(Seconds(20)); }),
              HasSubstr("the sum of all workers' gradients of values"));
  EXPECT_EQ(cluster.values(), before);
}

}  // namespace
}  // namespace trireme::ps
