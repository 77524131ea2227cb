// SPDX-License-Identifier: Apache-2.0
// Tests of servers that sum the pushes of a round.
#include <gmock/gmock.h>

#include "trireme/ps/testing/cluster.h"

namespace trireme::ps {
namespace {

constexpr double kRate = 0.05;

Ledger::Options in_step(std::int64_t samples, std::int64_t batch_size, int workers) {
  return {.begin = 0, .end = samples, .batch_size = batch_size, .workers = workers, .in_step = true};
}

class BspTest : public testing::TestWithParam<int> {};

TEST_P(BspTest, EqualsOneProcessOnTheMeanGradient) {
  for (const std::string optimizer : {"name = 'sgd'\nmomentum = 0.9", "name = 'adam'", "name = 'lars'"}) {
    Cluster cluster({.workers = GetParam(), .rules = {.mode = Mode::bsp}, .optimizer = optimizer});
    cluster.begin(in_step(205, 20, GetParam()));
    cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
    for (const auto& host : cluster.hosts) EXPECT_TRUE(host->server.await_retired(Seconds{10}));
    const Arrays expected = plain_loop(cluster, kRate, 205, 20);
    // Pushes are summed in the order in which they come, and Adam amplifies a rounding.
    expect_near(cluster.values(), expected.parameters, optimizer.find("adam") == std::string::npos ? 1e-6 : 1e-5);
    for (const auto& worker : cluster.workers) EXPECT_EQ(worker->arrays.parameters, cluster.values()) << optimizer;
    EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
    EXPECT_EQ(cluster.hosts[0]->server.used(), 205);
    EXPECT_EQ(cluster.hosts[0]->server.take_done().size(), static_cast<std::size_t>(11 * GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, BspTest, testing::Values(1, 2, 3, 4));

TEST(Bsp, IsExactForOneWorker) {
  Cluster cluster({.workers = 1, .rules = {.mode = Mode::bsp}});
  cluster.begin(in_step(60, 10, 1));
  cluster.workers[0]->work(kRate);
  EXPECT_EQ(cluster.values(), plain_loop(cluster, kRate, 60, 10).parameters);
}

TEST(Bsp, IsWhatSspIsWithoutStaleness) {
  std::vector<std::vector<float>> found;
  for (const Rules& rules : {Rules{.mode = Mode::bsp}, Rules{.mode = Mode::ssp, .staleness = 0}}) {
    Cluster cluster({.workers = 3, .rules = rules});
    cluster.begin(in_step(200, 20, 3));
    cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
    found.push_back(cluster.values());
  }
  expect_near(found[1], found[0], 1e-6);
}

TEST(Bsp, GoesOnInASecondStretchOnTheSameStreams) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::bsp}});
  cluster.begin(in_step(100, 20, 2));
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  for (std::size_t server = 0; server < 2; ++server) {
    EXPECT_TRUE(cluster.hosts[server]->server.await_retired(Seconds{10}));
    Server::Stretch stretch{.generation = 1, .workers = cluster.names(), .rules = cluster.rules, .updates = 5};
    if (server == 0) stretch.work = Ledger::Options{.begin = 100, .end = 205, .batch_size = 20, .workers = 2, .in_step = true};
    cluster.hosts[server]->server.begin(std::move(stretch));
  }
  for (const auto& worker : cluster.workers) worker->client.begin_stretch(5);
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  expect_near(cluster.values(), plain_loop(cluster, kRate, 205, 20).parameters, 1e-6);
}

// What a round waits for is who is at work: here one of two retires at once.
TEST(Bsp, ARoundIsCompleteWhenTheLastItWaitedForRetires) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::bsp}});
  cluster.begin(in_step(10, 10, 2));
  Worker& first = *cluster.workers[0];
  const std::optional<Lease> lease = first.client.next_lease();
  ASSERT_TRUE(lease);
  first.step(*lease, kRate);
  EXPECT_TRUE(first.client.unfinished());
  cluster.workers[1]->client.retire();
  first.client.settle();
  EXPECT_FALSE(first.client.unfinished());
  EXPECT_NE(cluster.values(), cluster.start().parameters);
}

class RoundedBspTest : public testing::TestWithParam<comm::WireType> {};

TEST_P(RoundedBspTest, AgreesAsFarAsSixteenBitsDo) {
  Cluster cluster({.workers = 2, .rules = {.mode = Mode::bsp, .wire = GetParam()}});
  cluster.begin(in_step(60, 20, 2));
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  const double unit = GetParam() == comm::WireType::bf16 ? 0.01 : 0.002;
  expect_near(cluster.values(), plain_loop(cluster, kRate, 60, 20).parameters, unit);
  expect_near(cluster.workers[0]->arrays.parameters, cluster.values(), unit);
  EXPECT_NE(cluster.workers[0]->arrays.parameters, cluster.values());
  EXPECT_EQ(cluster.workers[0]->arrays.parameters, cluster.workers[1]->arrays.parameters);
}

INSTANTIATE_TEST_SUITE_P(Wire, RoundedBspTest, testing::Values(comm::WireType::bf16, comm::WireType::f16));

TEST(BackupWorkers, WhatComesTooLateIsDroppedAndDoneAgain) {
  Cluster cluster({.workers = 3, .rules = {.mode = Mode::bsp, .backup_workers = 1}});
  cluster.begin({.begin = 0, .end = 300, .batch_size = 15, .workers = 3});
  cluster.run([](Worker& worker, std::size_t number) {
    const auto before_push = [&] {
      if (number == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    worker.work(kRate, before_push);
  });
  Server& lead = cluster.hosts[0]->server;
  EXPECT_TRUE(lead.is_complete());
  const ServerLoad load = lead.take_load();
  EXPECT_GT(load.dropped, 0);
  std::vector<int> used(300);
  for (const WorkDone& work : lead.take_done())
    for (std::int64_t sample = work.lease.begin; sample < work.lease.end; ++sample) ++used[static_cast<std::size_t>(sample)];
  EXPECT_THAT(used, testing::Each(1));
}

}  // namespace
}  // namespace trireme::ps
