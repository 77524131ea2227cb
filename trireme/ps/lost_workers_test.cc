// SPDX-License-Identifier: Apache-2.0
// Workers die at every place of a push: the gradient of every sample is in every piece once, and every sample counts once.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "trireme/base/random.h"
#include "trireme/ps/testing/cluster.h"

namespace trireme::ps {
namespace {

constexpr double kUnit = 0x1p-10;  // what a sample changes every value by

// Workers whose gradients are 1 everywhere: how far a value has come shows how many samples are in it.
class Counting {
 public:
  Counting(int servers, int workers, const Rules& rules, std::int64_t samples)
      : cluster({.servers = servers, .workers = workers, .rules = rules, .optimizer = "name = 'sgd'\nmomentum = 0"}), samples_(samples) {
    work_ = {
        .end = samples, .batch_size = std::int64_t{5} * workers, .workers = workers, .parts = rules.backup_workers > 0 ? workers - 1 : 0};
    cluster.begin(work_);
    start_ = cluster.values();
  }

  std::size_t slices() const { return cluster.space.slices().size(); }
  static void begin(Worker& worker, const Lease& lease) {
    worker.need_all();
    std::ranges::fill(worker.gradients, 1.0F);
    worker.client.begin(lease, kUnit * static_cast<double>(lease.size()), lease.size());
  }
  // The last `count` slices, from that of `from` on.
  static void ready(Worker& worker, std::size_t from, std::size_t count) {
    for (std::size_t slice = from; count-- > 0;) worker.client.ready(--slice);
  }
  void push(Worker& worker, const Lease& lease) const {
    begin(worker, lease);
    ready(worker, slices(), slices());
    worker.client.report_step({.samples = lease.size()});
  }
  // As far as it goes.
  void work(Worker& worker) const {
    while (const std::optional<Lease> lease = worker.client.next_lease()) {
      push(worker, *lease);
      worker.client.settle();
    }
  }
  void lose(const std::string& name) {
    std::erase_if(cluster.workers, [&](const auto& worker) { return worker->name == name; });
  }
  // The others make the next generation.
  void regroup() {
    std::vector<std::int64_t> kept;
    for (const auto& worker : cluster.workers)
      for (const std::int64_t lease : worker->client.kept()) kept.push_back(lease);
    cluster.regroup(cluster.names(), kept);
  }
  void connect_all() {
    for (const auto& worker : cluster.workers) {
      cluster.connect(*worker);
      if (!worker->client.unfinished()) worker->client.fetch();
    }
  }

  // How many samples are in each piece.
  std::vector<std::int64_t> in_pieces() {
    const std::vector<float> now = cluster.values();
    std::vector<std::int64_t> counts;
    for (const Piece& piece : cluster.map->pieces()) {
      const auto at = static_cast<std::size_t>(piece.begin);
      counts.push_back(std::llround((start_[at] - now[at]) / kUnit));
    }
    return counts;
  }
  void expect_every_sample_once() {
    EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
    EXPECT_THAT(in_pieces(), testing::Each(samples_));
    std::vector<int> uses(static_cast<std::size_t>(samples_));
    std::map<std::int64_t, std::int64_t> used;  // samples by their first lease
    for (const WorkDone& done : cluster.hosts[0]->server.take_done()) {
      for (std::int64_t sample = done.lease.begin; sample < done.lease.end; ++sample) ++uses[static_cast<std::size_t>(sample)];
      used[done.first_lease] += done.lease.size();
      unreported_ += done.is_reported ? 0 : 1;
    }
    EXPECT_THAT(uses, testing::Each(1));
    for (const auto& host : cluster.hosts) {
      std::map<std::int64_t, std::int64_t> applied;
      for (const Applied& push : host->pushes) applied[push.lease] += push.samples * static_cast<std::int64_t>(push.pieces);
      for (auto& [lease, count] : applied) count /= static_cast<std::int64_t>(host->pushes.front().all);
      EXPECT_EQ(applied, used) << "what a server writes down of its pushes is what the lead writes down of leases";
    }
  }
  int unreported() const { return unreported_; }

  Cluster cluster;

 private:
  std::int64_t samples_;
  Ledger::Options work_;
  std::vector<float> start_;
  int unreported_ = 0;
};

TEST(LostWorkers, APushThatIsWholeCountsThoughItsWorkerDiedBeforeItSaidSo) {
  Counting counting(2, 2, {}, 100);
  Worker& doomed = *counting.cluster.workers[1];
  doomed.client.connect(1, counting.cluster.opener(doomed, Kind::done), nullptr);
  const Lease lease = *doomed.client.next_lease();
  counting.push(doomed, lease);
  EXPECT_EQ(doomed.acknowledged.size(), 1U);
  counting.lose("w1");
  counting.regroup();
  EXPECT_EQ(counting.cluster.hosts[0]->server.used(), lease.size());
  counting.connect_all();
  counting.work(*counting.cluster.workers[0]);
  counting.expect_every_sample_once();
  EXPECT_EQ(counting.unreported(), 1);
}

TEST(LostWorkers, WhatSomePiecesHaveOfALostPushTheOthersGetFromAnotherWorker) {
  Counting counting(2, 2, {}, 100);
  Worker& doomed = *counting.cluster.workers[1];
  Counting::begin(doomed, *doomed.client.next_lease());
  Counting::ready(doomed, counting.slices(), 3);
  counting.lose("w1");
  const std::vector<std::int64_t> before = counting.in_pieces();
  ASSERT_THAT(before, testing::AllOf(testing::Contains(5), testing::Contains(0)));
  counting.regroup();
  EXPECT_EQ(counting.cluster.hosts[0]->server.used(), 0);
  counting.connect_all();
  counting.work(*counting.cluster.workers[0]);
  counting.expect_every_sample_once();
}

// It dies, too, with some of the pieces that were left; then there are more workers, and leases are smaller.
TEST(LostWorkers, WhoDoesItAgainMayDieAsWell) {
  Counting counting(3, 2, {}, 100);
  Cluster& cluster = counting.cluster;
  Counting::begin(*cluster.workers[1], *cluster.workers[1]->client.next_lease());
  Counting::ready(*cluster.workers[1], counting.slices(), 3);
  counting.lose("w1");
  counting.regroup();
  counting.connect_all();
  const Lease again = *cluster.workers[0]->client.next_lease();
  EXPECT_NE(again.half, 0);
  Counting::begin(*cluster.workers[0], again);
  Counting::ready(*cluster.workers[0], counting.slices(), 4);
  for (const char* name : {"w3", "w4", "w5", "w6", "w1"}) cluster.add_worker(name);
  counting.lose("w0");
  counting.regroup();
  counting.connect_all();
  const Lease part = *cluster.workers[0]->client.next_lease();
  EXPECT_EQ(part.half, again.id);
  EXPECT_EQ(part.first(), again.first());
  EXPECT_LT(part.size(), again.size());
  counting.push(*cluster.workers[0], part);
  for (const auto& worker : cluster.workers) counting.work(*worker);
  counting.expect_every_sample_once();
}

// The lead has settled, another server was still at it when the generation ended: it does so again.
TEST(LostWorkers, AGenerationMayEndWhileTheyAreSettled) {
  Counting counting(2, 2, {}, 100);
  Cluster& cluster = counting.cluster;
  Counting::begin(*cluster.workers[1], *cluster.workers[1]->client.next_lease());
  Counting::ready(*cluster.workers[1], counting.slices(), 3);
  counting.lose("w1");
  for (const auto& host : cluster.hosts) host->server.regroup(2, {"w0"}, {}, {});
  const std::vector<LostLease> lost = cluster.hosts[0]->server.lost();
  EXPECT_FALSE(lost.empty());
  for (const auto& host : cluster.hosts) host->server.has(lost);
  cluster.generation = 2;
  counting.regroup();
  counting.regroup();
  counting.connect_all();
  counting.work(*cluster.workers[0]);
  counting.expect_every_sample_once();
}

// With backup workers pieces decide each for itself: a push that any of them has is not done again.
TEST(LostWorkers, WithBackupWorkersAPushOfALostWorkerCountsIfAnyPieceHasIt) {
  Counting counting(2, 3, {.mode = Mode::bsp, .backup_workers = 1}, 90);
  Cluster& cluster = counting.cluster;
  std::vector<Lease> leases;
  for (const auto& worker : cluster.workers) leases.push_back(*worker->client.next_lease());
  counting.push(*cluster.workers[0], leases[0]);
  Counting::begin(*cluster.workers[1], leases[1]);
  Counting::ready(*cluster.workers[1], counting.slices(), 3);  // a round of these pieces
  for (const auto& worker : cluster.workers) worker->client.forget();
  counting.lose("w1");
  counting.regroup();
  EXPECT_EQ(cluster.hosts[0]->server.used(), leases[0].size() + leases[1].size());
  EXPECT_THAT(counting.in_pieces(), testing::Each(testing::AnyOf(0, leases[0].size())));
}

// A worker is idle, in the middle of a push, or has pushed and its report was not received; any may die at any time, also one after the
// other, and come back with its old name or another.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed)
      : random_(seed), counting_(1 + below(3), 2, seed % 3 == 0 ? Rules{.mode = Mode::ssp, .staleness = 100} : Rules{}, 200 + below(100)) {}

  void run() {
    for (int turn = 0; turn < 60; ++turn) {
      Worker& worker = *workers()[static_cast<std::size_t>(below(static_cast<int>(workers().size())))];
      const int what = below(10);
      if (is_broken_ || what == 0)
        change(worker);
      else if (what < 7)
        push(worker);
      else
        push_some(worker);
    }
    finish();
    for (const auto& worker : workers()) counting_.work(*worker);
    counting_.expect_every_sample_once();
  }

 private:
  int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(n))); }
  std::vector<std::unique_ptr<Worker>>& workers() { return counting_.cluster.workers; }

  void push_rest(Worker& worker, std::size_t left) {
    Counting::ready(worker, left, left);
    worker.client.report_step({.samples = 1});
    is_broken_ = worker.client.missed_server() >= 0;
    if (!is_broken_) worker.client.settle();
  }
  void push(Worker& worker) {
    if (const auto rest = rest_.extract(worker.name)) return push_rest(worker, rest.mapped());
    const std::optional<Lease> lease = worker.client.next_lease();
    if (!lease) return;
    Counting::begin(worker, *lease);
    push_rest(worker, counting_.slices());
  }
  void push_some(Worker& worker) {
    if (rest_.contains(worker.name)) return;
    const std::optional<Lease> lease = worker.client.next_lease();
    if (!lease) return;
    Counting::begin(worker, *lease);
    const auto some = static_cast<std::size_t>(below(static_cast<int>(counting_.slices()) + 1));
    Counting::ready(worker, counting_.slices(), some);
    rest_[worker.name] = counting_.slices() - some;
  }
  void change(const Worker& worker) {
    const std::string name = worker.name;
    if (workers().size() > 1 && below(3) > 0) {
      rest_.erase(name);
      counting_.lose(name);
    }
    while (workers().size() < 5 && below(2) == 0) {
      const std::string next = below(2) == 0 ? name : fmt::format("n{}", ++names_);
      if (std::ranges::none_of(workers(), [&](const auto& known) { return known->name == next; })) counting_.cluster.add_worker(next);
    }
    for (int times = 1 + below(2); times > 0; --times) counting_.regroup();
    counting_.connect_all();
    is_broken_ = false;
    for (const auto& other : workers())
      if (below(4) == 0 && !other->client.unfinished() && other->client.kept().empty())
        other->client.connect(counting_.cluster.generation, counting_.cluster.opener(*other, Kind::done), nullptr);
  }
  // Without more deaths.
  void finish() {
    counting_.regroup();
    counting_.connect_all();
    is_broken_ = false;
    while (!is_broken_ && !rest_.empty())
      for (const auto& worker : workers())
        if (rest_.contains(worker->name)) push(*worker);
  }

  RandomStream random_;
  Counting counting_;
  std::map<std::string, std::size_t> rest_;  // slices that are not pushed yet, by worker
  bool is_broken_ = false;
  int names_ = 0;
};

TEST(LostWorkers, EverySampleIsInEveryPieceOnceWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Chaos(seed).run();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace trireme::ps
