// SPDX-License-Identifier: Apache-2.0
// Tests of servers and workers when streams break and workers are lost.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/ps/testing/cluster.h"

namespace trireme::ps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kRate = 0.05;

Ledger::Options leases(std::int64_t samples, int workers) {
  return {.begin = 0, .end = samples, .batch_size = std::int64_t{5} * workers, .workers = workers};
}

std::vector<int> uses_of(const std::vector<WorkDone>& done, std::size_t samples) {
  std::vector<int> used(samples);
  for (const WorkDone& work : done)
    for (std::int64_t sample = work.lease.begin; sample < work.lease.end; ++sample) ++used[static_cast<std::size_t>(sample)];
  return used;
}

// Breaks the stream in place of the n-th answer of this kind.
Client::Open losing(const Client::Open& open, Kind kind, int nth, int of_server) {
  auto left = std::make_shared<std::atomic<int>>(nth);
  return [=](int server, rpc::BulkListener listener) {
    auto received = listener.received;
    listener.received = [=](const rpc::Incoming& message) {
      if (server == of_server && frame_of(message).kind == kind && --*left == 0) throw Error{unavailable, "the cable is cut"};
      received(message);
    };
    return open(server, std::move(listener));
  };
}

TEST(Failures, ALostAnswerIsAskedForAgainAndNothingIsAppliedTwice) {
  Cluster cluster({.workers = 1});
  cluster.begin(leases(20, 1));
  Worker& worker = *cluster.workers[0];
  worker.client.connect(1, losing(cluster.opener(worker), Kind::values, 3, 1), nullptr);
  worker.step(*worker.client.next_lease(), kRate);
  EXPECT_THAT(thrown_error([&] { worker.client.settle(); }), HasSubstr("unavailable: parameter server 1 is gone: the cable is cut"));
  EXPECT_EQ(worker.client.missed_server(), 1);
  ASSERT_TRUE(worker.client.unfinished());
  EXPECT_EQ(worker.client.kept(), std::vector<std::int64_t>{worker.client.unfinished()->id});
  cluster.connect(worker);
  worker.client.settle();
  EXPECT_FALSE(worker.client.unfinished());
  EXPECT_EQ(worker.client.missed_server(), -1);
  EXPECT_EQ(cluster.values(), plain_loop(cluster, kRate, 5, 5).parameters);
  EXPECT_EQ(worker.arrays.parameters, cluster.values());
  EXPECT_EQ(worker.acknowledged.size(), 1U);
  for (const auto& host : cluster.hosts) EXPECT_THAT(host->applied, ElementsAre("w0 1 taken"));
  worker.step(*worker.client.next_lease(), kRate);
  worker.client.settle();
  // The lease that was asked for ahead is forgotten: the one after it comes.
  EXPECT_THAT(uses_of(cluster.hosts[0]->server.take_done(), 20), testing::Contains(1).Times(10));
}

TEST(Failures, ALostAnswerOfARoundIsAskedForAgain) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::bsp}});
  cluster.begin({.begin = 0, .end = 20, .batch_size = 20, .workers = 2, .in_step = true});
  Worker& first = *cluster.workers[0];
  Worker& second = *cluster.workers[1];
  first.client.connect(1, losing(cluster.opener(first), Kind::values, 2, 0), nullptr);
  first.step(*first.client.next_lease(), kRate);
  second.step(*second.client.next_lease(), kRate);
  EXPECT_FALSE(second.client.unfinished());
  EXPECT_EQ(thrown_error([&] { first.client.settle(); }).substr(0, 11), "unavailable");
  cluster.connect(first);
  first.client.settle();
  expect_near(cluster.values(), plain_loop(cluster, kRate, 20, 20).parameters, 1e-6);
  EXPECT_EQ(first.arrays.parameters, cluster.values());
}

TEST(Failures, APushOfARunningRoundThatIsSentAgainCountsOnce) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::bsp}});
  cluster.begin({.begin = 0, .end = 20, .batch_size = 20, .workers = 2, .in_step = true});
  Worker& first = *cluster.workers[0];
  first.step(*first.client.next_lease(), kRate);
  cluster.connect(first);
  Worker& second = *cluster.workers[1];
  second.step(*second.client.next_lease(), kRate);
  first.client.settle();
  expect_near(cluster.values(), plain_loop(cluster, kRate, 20, 20).parameters, 1e-6);
  EXPECT_EQ(first.arrays.parameters, cluster.values());
}

// Some pieces of a push, and then no more.
void die_in_a_push(Cluster& cluster, Worker& worker) {
  const Lease lease = *worker.client.next_lease();
  worker.need_all();
  gradients_of(worker.arrays.parameters, lease.begin, lease.end, worker.gradients);
  worker.client.begin(lease, kRate, lease.size());
  worker.client.ready(cluster.space.slices().size() - 1);
  worker.client.ready(2);
  worker.client.disconnect();
}

TEST(Failures, AsyncGoesOnWithoutALostWorker) {
  Cluster cluster({.workers = 3});
  cluster.begin(leases(300, 3));
  Worker& first = *cluster.workers[0];
  Worker& second = *cluster.workers[1];
  for (int step = 0; step < 3; ++step) first.step(*first.client.next_lease(), kRate);
  second.step(*second.client.next_lease(), kRate);
  die_in_a_push(cluster, *cluster.workers[2]);
  std::vector<std::int64_t> kept = first.client.kept();
  for (const std::int64_t lease : second.client.kept()) kept.push_back(lease);
  // Worker 0 gets another number, and one comes that was not there before.
  Worker& fourth = cluster.add_worker();
  cluster.regroup({"w1", "w3", "w0"}, kept);
  EXPECT_THAT(thrown_error([&] { first.client.next_lease(); }), HasSubstr("generation 1 is over; it is 2 now"));
  cluster.workers.erase(cluster.workers.begin() + 2);
  for (const auto& worker : cluster.workers) cluster.connect(*worker);
  fourth.client.fetch();
  EXPECT_EQ(fourth.arrays.parameters, cluster.values());
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
  const std::vector<WorkDone> done = cluster.hosts[0]->server.take_done();
  EXPECT_THAT(uses_of(done, 300), testing::Each(1));
  for (const auto& host : cluster.hosts) {
    EXPECT_EQ(host->applied.size(), done.size());
    EXPECT_TRUE(host->server.await_retired(Seconds{10}));
  }
}

TEST(Failures, BspGoesOnWithoutALostWorkerAndLosesNoSample) {
  Cluster cluster({.workers = 3, .rules = {.mode = Mode::bsp}});
  cluster.begin({.begin = 0, .end = 100, .batch_size = 20, .workers = 3, .in_step = true});
  // One whole round first.
  cluster.run([](Worker& worker, std::size_t) {
    worker.step(*worker.client.next_lease(), kRate);
    worker.client.settle();
  });
  Worker& first = *cluster.workers[0];
  Worker& second = *cluster.workers[1];
  first.step(*first.client.next_lease(), kRate);
  second.step(*second.client.next_lease(), kRate);
  die_in_a_push(cluster, *cluster.workers[2]);  // some pieces have had their second update, the others not
  cluster.regroup({"w0", "w1"}, {});
  cluster.workers.pop_back();
  for (const auto& worker : cluster.workers) {
    EXPECT_EQ(thrown_error([&] { worker->client.settle(); }).substr(0, 11), "unavailable");
    worker->client.forget();
    cluster.connect(*worker);
  }
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
  expect_near(cluster.values(), plain_loop(cluster, kRate, 100, 20).parameters, 1e-6);
}

// Only those who got its values know that the first round is made.
TEST(Failures, BspGoesOnAfterARoundThatTheLeadWasNotNotifiedOf) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::bsp}});
  cluster.begin({.begin = 0, .end = 100, .batch_size = 20, .workers = 2, .in_step = true});
  std::vector<Lease> leases;
  for (const auto& worker : cluster.workers) {
    worker->client.connect(1, cluster.opener(*worker, Kind::done), nullptr);
    leases.push_back(*worker->client.next_lease());
    worker->step(leases.back(), kRate);
  }
  std::vector<std::int64_t> kept;
  for (const auto& worker : cluster.workers) {
    worker->client.forget();
    for (const std::int64_t lease : worker->client.kept()) kept.push_back(lease);
  }
  ASSERT_THAT(kept, ElementsAre(leases[0].id, leases[1].id));
  cluster.regroup({"w0", "w1"}, kept);
  EXPECT_EQ(cluster.hosts[0]->server.used(), 20);
  for (const auto& worker : cluster.workers) cluster.connect(*worker);
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
  expect_near(cluster.values(), plain_loop(cluster, kRate, 100, 20).parameters, 1e-6);
  const std::vector<WorkDone> done = cluster.hosts[0]->server.take_done();
  EXPECT_THAT(uses_of(done, 100), testing::Each(1));
  EXPECT_FALSE(done.front().is_reported);
  EXPECT_EQ(done.front().samples, 20);
}

TEST(Failures, WhoWasHeldBackByALostWorkerGoesOn) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::ssp, .staleness = 1}});
  cluster.begin(leases(100, 2));
  Worker& first = *cluster.workers[0];
  first.step(*first.client.next_lease(), kRate);
  first.step(*first.client.next_lease(), kRate);
  ASSERT_TRUE(first.client.unfinished());
  const std::vector<float> before = cluster.values();
  cluster.regroup({"w0"}, first.client.kept());
  cluster.workers.pop_back();
  cluster.connect(first);
  first.client.settle();
  EXPECT_EQ(cluster.values(), before);
  first.work(kRate);
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
  const std::size_t done = cluster.hosts[0]->server.take_done().size();
  for (const auto& host : cluster.hosts) EXPECT_EQ(host->applied.size(), done);
}

// The push is in, but the lead was not notified that its lease is used.
TEST(Failures, ALeaseWhoseEndTheLeadWasNotNotifiedOfIsNotDoneAgain) {
  Cluster cluster({.workers = 1});
  cluster.begin(leases(20, 1));
  Worker& worker = *cluster.workers[0];
  worker.client.connect(1, losing(cluster.opener(worker), Kind::noted, 1, 0), nullptr);
  const Lease lease = *worker.client.next_lease();
  worker.step(lease, kRate);
  EXPECT_FALSE(worker.client.unfinished());
  EXPECT_EQ(worker.client.kept(), std::vector<std::int64_t>{lease.id});
  cluster.regroup({"w0"}, worker.client.kept());
  cluster.connect(worker);
  worker.work(kRate);
  EXPECT_TRUE(worker.client.kept().empty());
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
  EXPECT_THAT(uses_of(cluster.hosts[0]->server.take_done(), 20), testing::Each(1));
  EXPECT_EQ(cluster.hosts[0]->applied.size(), 4U);
}

// A stream whose peer takes nothing: messages stay where they are.
class Stuck final : public rpc::BulkSession {
 public:
  bool send(rpc::Outgoing message) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    return true;
  }
  void close(const Error&) override { take(); }
  std::vector<rpc::Outgoing> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<rpc::Outgoing> messages_;
};

class Written final : public rpc::Incoming {
 public:
  explicit Written(const Frame& frame) : head_(head_of(frame)) {}
  std::size_t size() const override { return head_.size(); }
  void copy(std::size_t offset, std::span<std::byte> to) const override { std::memcpy(to.data(), head_.data() + offset, to.size()); }

 private:
  const std::string head_;
};

TEST(Failures, AWorkerThatTakesNothingKeepsLittleMemoryAndGetsTheRestLater) {
  ParameterSpace space;
  space.add("dense/kernel", {1024, 4096});
  Cluster cluster({.servers = 1, .workers = 2, .space = space});
  cluster.begin(leases(100, 2));
  const auto session = std::make_shared<Stuck>();
  const rpc::BulkListener listener = cluster.hosts[0]->server.open("w0", session);
  listener.received(Written({.kind = Kind::hello, .generation = 1}));
  const std::size_t pieces = cluster.map->pieces().size();
  ASSERT_EQ(pieces, 4096U);
  for (std::size_t piece = 0; piece < pieces; ++piece)
    listener.received(Written({.kind = Kind::fetch, .piece = static_cast<std::uint32_t>(piece)}));
  std::vector<rpc::Outgoing> first = session->take();
  EXPECT_EQ(first.size(), 4096U * 9 / 10 / 2);
  EXPECT_EQ(first.front().urgency, 0);
  // The others have theirs.
  cluster.workers[1]->client.fetch();
  std::size_t sent = first.size();
  first.clear();
  for (int look = 0; look < 1000 && sent < pieces; ++look) {
    sent += session->take().size();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(sent, pieces);
  listener.closed({unavailable, "gone"});
}

TEST(Failures, WaitsEndWithTheReason) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::bsp}});
  cluster.begin({.begin = 0, .end = 20, .batch_size = 20, .workers = 2, .in_step = true});
  Worker& worker = *cluster.workers[0];
  const auto cancellation = std::make_shared<comm::Cancellation>();
  worker.client.connect(1, cluster.opener(worker), cancellation);
  worker.step(*worker.client.next_lease(), kRate);
  cancellation->cancel();
  EXPECT_EQ(thrown_error([&] { worker.client.needed(0); }).substr(0, 9), "cancelled");
  worker.client.connect(1, cluster.opener(worker), nullptr);
  cluster.hosts.pop_back();
  EXPECT_THAT(thrown_error([&] { worker.client.settle(); }), HasSubstr("unavailable: parameter server 1 is gone"));
  EXPECT_EQ(worker.client.missed_server(), 1);
}

}  // namespace
}  // namespace trireme::ps
