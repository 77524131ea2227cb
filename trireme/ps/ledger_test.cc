// SPDX-License-Identifier: Apache-2.0
// Every sample is used once, whichever worker takes work, gives it back, is lost or joins.
#include "trireme/ps/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/ps/testing/samples.h"

namespace trireme::ps {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Ledger, AWorkerThatAsksGetsTheNextShareOfABatch) {
  Ledger ledger({.begin = 0, .end = 100, .batch_size = 32, .workers = 3});
  const auto first = ledger.next(2);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, Samples(0, 11));
  EXPECT_EQ(first->round, -1);
  EXPECT_EQ(first->id, 1);
  EXPECT_THAT(*ledger.next(2), Samples(11, 22));
  EXPECT_THAT(*ledger.next(0), Samples(22, 33));
  EXPECT_EQ(ledger.used(), 0);
  EXPECT_TRUE(ledger.done(1));
  EXPECT_EQ(ledger.used(), 11);
}

TEST(Ledger, APartMayBeOfAnotherNumberThanWorkers) {
  Ledger ledger({.end = 100, .batch_size = 32, .workers = 3, .parts = 1});
  EXPECT_THAT(*ledger.next(0), Samples(0, 32));
  ledger.regroup(3, 8, {});
  EXPECT_THAT(*ledger.next(0), Samples(0, 4));
}

TEST(Ledger, DoneCountsOnceOnly) {
  Ledger ledger({.end = 10, .batch_size = 4});
  const Lease lease = *ledger.next(0);
  ASSERT_TRUE(ledger.find(lease.id));
  EXPECT_THAT(*ledger.find(lease.id), Samples(0, 4));
  EXPECT_TRUE(ledger.done(lease.id));
  EXPECT_FALSE(ledger.done(lease.id));
  ledger.give_back(lease.id);
  EXPECT_FALSE(ledger.find(lease.id));
  EXPECT_FALSE(ledger.done(77));
  EXPECT_EQ(ledger.used(), 4);
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(4, 10)));
}

TEST(Ledger, WhatIsGivenBackIsHandedOutFirstInPiecesThatFit) {
  Ledger ledger({.end = 40, .batch_size = 16, .workers = 2});
  const Lease a = *ledger.next(0);
  const Lease b = *ledger.next(1);
  ledger.done(a.id);
  ledger.give_back(b.id);
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(8, 40)));
  ledger.regroup(4, 0, {});  // batches are compiled for 4 samples now
  EXPECT_THAT(*ledger.next(3), Samples(8, 12));
  EXPECT_THAT(*ledger.next(3), Samples(12, 16));
}

TEST(Ledger, KeepsLeasesThatAreKept) {
  Ledger ledger({.end = 40, .batch_size = 8, .workers = 2});
  const Lease kept = *ledger.next(0);
  const Lease lost = *ledger.next(1);
  ledger.regroup(1, 0, {kept.id, 99});
  EXPECT_FALSE(ledger.find(lost.id));
  EXPECT_TRUE(ledger.done(kept.id));
  EXPECT_FALSE(ledger.done(lost.id));
  EXPECT_THAT(*ledger.next(0), Samples(4, 12));
}

TEST(Ledger, StopEndsTheHandingOut) {
  Ledger ledger({.begin = 3, .end = 40, .batch_size = 8});
  const Lease out = *ledger.next(0);
  ledger.stop();
  EXPECT_FALSE(ledger.next(0));
  EXPECT_FALSE(ledger.is_over());
  ledger.done(out.id);
  EXPECT_TRUE(ledger.is_over());
  EXPECT_FALSE(ledger.is_complete());
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(11, 40)));
}

TEST(Ledger, WhatIsGivenBackAfterAStopIsHandedOutIfOthersWentFurther) {
  Ledger ledger({.end = 40, .batch_size = 8, .workers = 2});
  const Lease lost = *ledger.next(0);
  const Lease done = *ledger.next(1);
  const Lease last = *ledger.next(1);
  ledger.stop();
  ledger.done(done.id);
  ledger.give_back(last.id);
  ledger.regroup(1, 0, {});  // of a worker whose parts are twice as large
  EXPECT_FALSE(ledger.find(lost.id));
  const auto again = ledger.next(0);
  ASSERT_TRUE(again);
  EXPECT_THAT(*again, Samples(0, 4));
  EXPECT_THAT(*ledger.next(0), Samples(8, 12));
  EXPECT_FALSE(ledger.next(0));
  EXPECT_FALSE(ledger.is_over());
  ledger.done(again->id);
  ledger.done(again->id + 1);
  EXPECT_TRUE(ledger.is_over());
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(12, 40)));
}

TEST(Ledger, NothingToDoIsOverAndComplete) {
  for (const bool in_step : {false, true}) {
    Ledger ledger({.begin = 10, .end = 10, .batch_size = 4, .workers = 2, .in_step = in_step});
    EXPECT_FALSE(ledger.next(1));
    EXPECT_TRUE(ledger.is_over());
    EXPECT_TRUE(ledger.is_complete());
    EXPECT_THAT(ledger.remaining(), IsEmpty());
  }
}

// Workers take, finish, give back, are lost and come, at random, until all is done or it is stopped.
void run_at_random(std::uint64_t seed) {
  RandomStream random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
  const std::int64_t begin = below(30), end = begin + below(400);
  int workers = 1 + static_cast<int>(below(6));
  Ledger ledger({.begin = begin, .end = end, .batch_size = 1 + below(40), .workers = workers, .parts = static_cast<int>(below(3))});
  const bool is_stopped = below(3) == 0;
  Uses uses(end);
  std::vector<Lease> out;
  for (int turn = 0; turn < 20000 && !ledger.is_over(); ++turn) {
    const std::int64_t what = below(20);
    if (what < 10) {
      if (const auto lease = ledger.next(static_cast<int>(below(static_cast<std::uint64_t>(workers))))) {
        ASSERT_GT(lease->size(), 0);
        out.push_back(*lease);
      }
    } else if (what < 18 && !out.empty()) {
      const auto at = out.begin() + below(out.size());
      if (below(4) == 0) {
        ledger.give_back(at->id);
      } else {
        ASSERT_TRUE(ledger.done(at->id));
        uses.add(range(*at));
      }
      out.erase(at);
    } else if (what == 18) {
      std::erase_if(out, [&](const Lease&) { return below(2) == 0; });
      std::vector<std::int64_t> kept;
      for (const Lease& lease : out) kept.push_back(lease.id);
      workers = 1 + static_cast<int>(below(6));
      ledger.regroup(workers, static_cast<int>(below(3)), kept);
    } else if (is_stopped && below(20) == 0) {
      ledger.stop();
    }
  }
  ASSERT_TRUE(ledger.is_over());
  ASSERT_TRUE(is_stopped || ledger.is_complete());
  ASSERT_LE(ledger.remaining().size(), 1U);
  for (const data::Range& rest : ledger.remaining()) uses.add(rest);
  uses.expect_once(begin);
}

TEST(Ledger, UsesEverySampleOnceWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    run_at_random(seed);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace trireme::ps
