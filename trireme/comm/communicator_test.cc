// SPDX-License-Identifier: Apache-2.0
// Collectives between threads on loopback, and what happens when members fail or strangers come.
#include "trireme/comm/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/base/testing/wait_until.h"

namespace trireme::comm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Seconds kTimeout{20};

Group group_of(int rank, int size, std::uint64_t generation = 1, std::string key = "the job's key") {
  return {.rank = rank, .size = size, .generation = generation, .address = "127.0.0.1", .key = std::move(key)};
}

// Runs `member` in a thread per rank.
void in_threads(int size, const std::function<void(int rank)>& member) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&, rank] { member(rank); });
}

void in_group(int size, const std::function<void(Communicator&)>& member) {
  MemoryStore store;
  in_threads(size, [&](int rank) {
    auto communicator = Communicator::connect(store, group_of(rank, size), kTimeout);
    member(communicator);
    communicator.barrier(kTimeout);
  });
}

float value_of(int rank, std::size_t i) { return std::sin(static_cast<float>(i) * 0.37F + static_cast<float>(rank)) * 3; }

constexpr std::array<std::size_t, 8> kCounts{0, 1, 2, 4, 7, 1000, 12345, 300001};

using Results = std::vector<std::vector<float>>;  // one for each of kCounts

// Every member's.
std::vector<Results> reduced(int size, const Communicator::Reduce& how) {
  std::vector<Results> all(static_cast<std::size_t>(size));
  in_group(size, [&](Communicator& communicator) {
    for (const std::size_t count : kCounts) {
      std::vector<float> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = value_of(communicator.rank(), i);
      communicator.all_reduce(values, how, kTimeout);
      all[static_cast<std::size_t>(communicator.rank())].push_back(values);
    }
  });
  return all;
}

// Half a unit of sums below 16, for each time that Gloo's algorithms round.
double tolerance_of(WireType wire, int size) {
  return wire == WireType::f32 ? 1e-5 : size * (wire == WireType::f16 ? 1.0 / 256 : 1.0 / 32);
}

void expect_sum(const std::vector<float>& result, int size, double tolerance) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    double sum = 0;
    for (int rank = 0; rank < size; ++rank) sum += value_of(rank, i);
    ASSERT_NEAR(result[i], sum, tolerance) << "element " << i;
  }
}

class AllReduce : public testing::TestWithParam<std::tuple<int, Algorithm, WireType>> {};

TEST_P(AllReduce, SumsToTheSameBitsEverywhereAndEveryTime) {
  const auto [size, algorithm, wire] = GetParam();
  const auto all = reduced(size, {algorithm, wire});
  for (const auto& result : all[0]) expect_sum(result, size, tolerance_of(wire, size));
  for (const auto& other : all) ASSERT_EQ(other, all[0]);
  ASSERT_EQ(reduced(size, {algorithm, wire}), all);
}

INSTANTIATE_TEST_SUITE_P(All, AllReduce,
                         testing::Combine(testing::Values(1, 2, 3, 5, 7),
                                          testing::Values(Algorithm::automatic, Algorithm::ring, Algorithm::halving_doubling),
                                          testing::Values(WireType::f32, WireType::bf16, WireType::f16)));

TEST(Communicator, SumsDoubles) {
  in_group(3, [](Communicator& communicator) {
    std::vector<double> values{1.0 + communicator.rank(), 0.5};
    communicator.all_reduce(std::span(values), kTimeout);
    EXPECT_EQ(values, (std::vector<double>{6, 1.5}));
  });
}

TEST(Communicator, BroadcastsFromAnyRank) {
  in_group(3, [](Communicator& communicator) {
    for (int root = 0; root < 3; ++root) {
      std::vector<std::byte> bytes(100003, static_cast<std::byte>(communicator.rank()));
      communicator.broadcast(bytes, root, kTimeout);
      EXPECT_EQ(bytes, std::vector<std::byte>(100003, static_cast<std::byte>(root)));
    }
  });
}

TEST(Communicator, GathersInOrderOfRanks) {
  in_group(3, [](Communicator& communicator) {
    const std::vector<double> mine{10.0 * communicator.rank(), 1};
    std::vector<double> all(6);
    communicator.all_gather(mine, all, kTimeout);
    EXPECT_EQ(all, (std::vector<double>{0, 1, 10, 1, 20, 1}));
  });
}

TEST(Communicator, BarrierWaitsForAll) {
  std::atomic<int> arrived = 0;
  in_group(3, [&](Communicator& communicator) {
    ++arrived;
    communicator.barrier(kTimeout);
    EXPECT_EQ(arrived, 3);
  });
}

// Nodes may be threads of one process.
TEST(Communicator, EachMemberCountsItsOwnTraffic) {
  MemoryStore store;
  in_threads(2, [&](int rank) {
    Group group = group_of(rank, 2);
    group.traffic = std::make_shared<TrafficCounter>();
    auto communicator = Communicator::connect(store, group, kTimeout);
    std::vector<std::byte> bytes(1000);
    communicator.broadcast(bytes, 0, kTimeout);
    EXPECT_EQ(group.traffic->total().sent, rank == 0 ? 1000 : 0);
    EXPECT_EQ(group.traffic->total().received, rank == 1 ? 1000 : 0);
  });
}

TEST(Communicator, ManyCollectivesInARow) {
  in_group(2, [](Communicator& communicator) {
    for (std::size_t step = 0; step < 500; ++step) {
      std::vector<float> values(1 + step * 7, 1);
      communicator.all_reduce(values, {}, kTimeout);
      ASSERT_EQ(std::accumulate(values.begin(), values.end(), 0.0F), 2 * static_cast<float>(values.size()));
    }
  });
}

TEST(Communicator, AloneListensNowhereAndReturnsAtOnce) {
  MemoryStore store;
  auto alone = Communicator::connect(store, {.rank = 0, .size = 1, .generation = 1, .address = "no such address", .key = ""}, Seconds{1});
  std::vector<float> values{1, 2};
  alone.all_reduce(values, {}, Seconds{1});
  alone.barrier(Seconds{1});
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
}

TEST(Communicator, RefusesARankThatIsNotThere) {
  MemoryStore store;
  EXPECT_THAT(thrown_error([&] { Communicator::connect(store, group_of(2, 2), Seconds{1}); }), StartsWith("invalid_argument: "));
}

TEST(Communicator, RefusesAnAddressThatIsNotThisMachines) {
  MemoryStore store;
  Group group = group_of(0, 2);
  group.address = "192.0.2.1";  // reserved for documentation
  const std::string error = thrown_error([&] { Communicator::connect(store, group, Seconds{1}); });
  EXPECT_THAT(error, StartsWith("invalid_argument: "));
  EXPECT_THAT(error, HasSubstr("192.0.2.1"));
}

// --- failures ---

TEST(Failure, AMemberThatLeavesIsNamedAtOnce) {
  MemoryStore store;
  in_threads(3, [&](int rank) {
    auto communicator = Communicator::connect(store, group_of(rank, 3), kTimeout);
    if (rank == 1) return;
    std::vector<float> values(100000, 1);
    const auto start = SteadyClock{}.now();
    const std::string error = thrown_error([&] {
      for (;;) communicator.all_reduce(values, {}, kTimeout);
    });
    EXPECT_THAT(error, StartsWith("unavailable: "));
    EXPECT_LT((SteadyClock{}.now() - start).count(), 2);
    const std::string again = thrown_error([&] { communicator.barrier(kTimeout); });
    EXPECT_EQ(again, error);
  });
}

TEST(Failure, OfTwoTheOtherIsNamed) {
  MemoryStore store;
  in_threads(2, [&](int rank) {
    auto communicator = Communicator::connect(store, group_of(rank, 2), kTimeout);
    if (rank == 1) return;
    const std::string error = thrown_error([&] { communicator.barrier(kTimeout); });
    EXPECT_THAT(error, StartsWith("unavailable: "));
    EXPECT_THAT(error, HasSubstr("rank 1"));
  });
}

TEST(Failure, ASilentMemberIsGivenUpAtTheTimeout) {
  MemoryStore store;
  std::latch done(1);
  in_threads(2, [&](int rank) {
    auto communicator = Communicator::connect(store, group_of(rank, 2), kTimeout);
    if (rank == 1) return done.wait();
    std::vector<float> values(10);
    const auto start = SteadyClock{}.now();
    EXPECT_THAT(thrown_error([&] { communicator.all_reduce(values, {}, Seconds{0.3}); }), StartsWith("deadline_exceeded: "));
    const double waited = (SteadyClock{}.now() - start).count();
    EXPECT_GE(waited, 0.25);
    EXPECT_LT(waited, 1.5);
    done.count_down();
  });
}

TEST(Failure, AMemberThatNeverComesIsNamed) {
  MemoryStore store;
  const std::string error = thrown_error([&] { Communicator::connect(store, group_of(0, 2), Seconds{0.2}); });
  EXPECT_THAT(error, StartsWith("deadline_exceeded: "));
  EXPECT_THAT(error, HasSubstr("rank 1"));
}

// Of three members `stuck` does not come to the collective.
void expect_missed(int stuck, const std::function<void(Communicator&)>& collective) {
  MemoryStore store;
  std::latch done(2);
  in_threads(3, [&](int rank) {
    auto communicator = Communicator::connect(store, group_of(rank, 3), kTimeout);
    if (rank == stuck) return done.wait();
    EXPECT_NE(thrown_error([&] { collective(communicator); }), "no error");
    EXPECT_NE(communicator.missed_peer(), -1) << "rank " << rank << " misses " << stuck;
    done.count_down();
  });
}

TEST(Failure, AMemberThatMissesAnotherCanSayWhichInEveryCollective) {
  for (const int stuck : {0, 1, 2}) {
    const std::vector<std::function<void(Communicator&)>> collectives{[](Communicator& c) {
                                                                        std::vector<float> values(10);
                                                                        c.all_reduce(values, {}, Seconds{0.2});
                                                                      },
                                                                      [](Communicator& c) {
                                                                        std::vector<float> values(1000);
                                                                        c.all_reduce(values, {.algorithm = Algorithm::ring}, Seconds{0.2});
                                                                      },
                                                                      [](Communicator& c) { c.barrier(Seconds{0.2}); }};
    for (const auto& collective : collectives) expect_missed(stuck, collective);
  }
}

TEST(Failure, AWaitThatLastsIsNotedAndARendezvousThatFailsSaysWhomItMissed) {
  MemoryStore store;
  Group group = group_of(0, 2);
  group.waits = std::make_shared<PeerWait>();
  std::jthread late([&] {
    ASSERT_TRUE(wait_until([&] { return group.waits->peer() == 1; }));
    auto other = Communicator::connect(store, group_of(1, 2), kTimeout);
    ASSERT_TRUE(wait_until([&] { return group.waits->peer() == 1; }));  // in the collective
    other.barrier(kTimeout);
  });
  auto communicator = Communicator::connect(store, group, kTimeout);
  EXPECT_EQ(group.waits->peer(), PeerWait::kNoPeer);
  communicator.barrier(kTimeout);
  EXPECT_EQ(group.waits->peer(), PeerWait::kNoPeer);

  group.generation = 2;
  EXPECT_NE(thrown_error([&] { Communicator::connect(store, group, Seconds{0.1}); }), "no error");
  EXPECT_EQ(group.waits->peer(), PeerWait::kNoPeer);
  EXPECT_EQ(group.waits->reset_missed(), 1);
  EXPECT_EQ(group.waits->reset_missed(), PeerWait::kNoPeer);
}

TEST(Failure, GenerationsDoNotMeet) {
  MemoryStore store;
  in_threads(2, [&](int rank) {
    const auto generation = static_cast<std::uint64_t>(rank);
    EXPECT_THAT(thrown_error([&] { Communicator::connect(store, group_of(rank, 2, generation), Seconds{0.3}); }),
                StartsWith("deadline_exceeded: "));
  });
}

// Another generation begins: whatever a member of this one waits for is over.
TEST(Failure, ACancelledMemberWaitsNoLonger) {
  MemoryStore store;
  std::latch done(1);
  in_threads(2, [&](int rank) {
    Group group = group_of(rank, 2);
    const auto over = std::make_shared<Cancellation>();
    group.cancellation = over;
    auto communicator = Communicator::connect(store, group, kTimeout);
    if (rank == 1) return done.wait();
    const std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      over->cancel();
    });
    std::vector<float> values(10);
    const auto start = SteadyClock{}.now();
    EXPECT_THAT(thrown_error([&] { communicator.all_reduce(values, {}, kTimeout); }), StartsWith("cancelled: "));
    EXPECT_LT((SteadyClock{}.now() - start).count(), 2);
    done.count_down();
  });
}

TEST(Failure, ACancelledRendezvousIsOver) {
  MemoryStore store;
  Group group = group_of(0, 2);
  const auto over = std::make_shared<Cancellation>();
  group.cancellation = over;
  const std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    over->cancel();
  });
  const auto start = SteadyClock{}.now();
  EXPECT_THAT(thrown_error([&] { Communicator::connect(store, group, kTimeout); }), StartsWith("cancelled: "));
  EXPECT_LT((SteadyClock{}.now() - start).count(), 2);
}

TEST(Communicator, TwoChannelsAtTheSameTime) {
  MemoryStore store;
  in_threads(4, [&](int thread) {
    Group group = group_of(thread % 2, 2);
    group.channel = thread < 2 ? "gradients" : "statistics";
    auto communicator = Communicator::connect(store, group, kTimeout);
    std::vector<float> values{thread < 2 ? 1.0F : 10.0F};
    communicator.all_reduce(values, {}, kTimeout);
    EXPECT_EQ(values[0], thread < 2 ? 2 : 20);
  });
}

TEST(Failure, MembersThatLoseStepAreReported) {
  MemoryStore store;
  in_threads(2, [&](int rank) {
    auto communicator = Communicator::connect(store, group_of(rank, 2), kTimeout);
    std::vector<float> values(rank == 0 ? 10 : 11);
    const std::string error = thrown_error([&] {
      communicator.all_reduce(values, {}, kTimeout);
      communicator.barrier(kTimeout);
    });
    EXPECT_TRUE(error.starts_with("internal: ") || error.starts_with("unavailable: ")) << error;
  });
}

TEST(Failure, AWrongKeyIsRefusedByAll) {
  MemoryStore store;
  in_threads(3, [&](int rank) {
    const auto start = SteadyClock{}.now();
    const std::string error =
        thrown_error([&] { Communicator::connect(store, group_of(rank, 3, 1, rank == 2 ? "another key" : "the job's key"), Seconds{1}); });
    EXPECT_THAT(error, StartsWith("unauthenticated: "));
    EXPECT_LT((SteadyClock{}.now() - start).count(), 5);
  });
}

}  // namespace
}  // namespace trireme::comm
