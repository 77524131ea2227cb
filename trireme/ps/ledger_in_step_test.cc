// SPDX-License-Identifier: Apache-2.0
// In step: workers get their parts of each batch, and a round counts for all or is done again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/ps/ledger.h"
#include "trireme/ps/testing/samples.h"

namespace trireme::ps {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LedgerInStep, WorkersGetTheirPartsOfEachBatch) {
  const std::int64_t begin = 5, end = 77, batch = 16;
  const int workers = 3;
  const std::vector<double> shares(workers, 1.0);
  Ledger ledger({.begin = begin, .end = end, .batch_size = batch, .workers = workers, .in_step = true});
  std::int64_t used = 0;
  for (std::int64_t round = 0, at = begin; at < end; ++round, at += batch) {
    const std::int64_t whole = std::min(batch, end - at);
    for (int worker = workers - 1; worker >= 0; --worker) {
      const auto lease = ledger.next(worker);
      const data::Range part = data::part_of(whole, shares, worker);
      ASSERT_TRUE(lease);
      EXPECT_THAT(*lease, Samples(at + part.begin, at + part.end));
      EXPECT_EQ(lease->round, round);
      EXPECT_TRUE(ledger.done(lease->id));
      EXPECT_EQ(ledger.used(), used += part.size());
    }
  }
  EXPECT_FALSE(ledger.next(0));
  EXPECT_TRUE(ledger.is_over());
  EXPECT_TRUE(ledger.is_complete());
}

TEST(LedgerInStep, AWorkerMayAskAhead) {
  Ledger ledger({.end = 40, .batch_size = 10, .workers = 2, .in_step = true});
  EXPECT_THAT(*ledger.next(0), Samples(0, 5));
  EXPECT_THAT(*ledger.next(0), Samples(10, 15));
  EXPECT_THAT(*ledger.next(1), Samples(5, 10));
  EXPECT_EQ(ledger.next(1)->round, 1);
}

TEST(LedgerInStep, MoreWorkersThanSamplesOfABatch) {
  Ledger ledger({.end = 5, .batch_size = 3, .workers = 4, .in_step = true});
  Uses uses(5);
  std::vector<std::vector<std::int64_t>> rounds(4);
  for (int turn = 0; turn < 3; ++turn) {
    for (int worker = 0; worker < 4; ++worker) {
      const auto lease = ledger.next(worker);
      if (!lease) continue;
      rounds[static_cast<std::size_t>(worker)].push_back(lease->round);
      uses.add(range(*lease));
      ledger.done(lease->id);
    }
  }
  uses.expect_once(0);
  EXPECT_TRUE(ledger.is_over());
  // No worker begins with a later round: its push would be ahead of all that the servers have.
  EXPECT_THAT(rounds, ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1), ElementsAre(0), IsEmpty()));
}

TEST(LedgerInStep, StopLetsAllFinishTheRoundThatHasBegun) {
  Ledger ledger({.end = 40, .batch_size = 10, .workers = 3, .in_step = true});
  std::vector<Lease> out{*ledger.next(0), *ledger.next(0), *ledger.next(1)};  // worker 0 is at round 1
  ledger.stop();
  EXPECT_FALSE(ledger.next(0));
  EXPECT_EQ(ledger.next(1)->round, 1);
  for (std::int64_t id = 1; id <= 4; ++id) ledger.done(id);
  EXPECT_FALSE(ledger.is_over());  // worker 2 has not asked yet
  EXPECT_EQ(ledger.next(2)->round, 0);
  EXPECT_EQ(ledger.next(2)->round, 1);
  EXPECT_FALSE(ledger.next(2));
  ledger.done(5);
  ledger.done(6);
  EXPECT_TRUE(ledger.is_over());
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(20, 40)));
}

TEST(LedgerInStep, StopBetweenRoundsIsTheEnd) {
  Ledger ledger({.end = 40, .batch_size = 10, .workers = 2, .in_step = true});
  ledger.stop();
  EXPECT_FALSE(ledger.next(0));
  EXPECT_TRUE(ledger.is_over());
}

TEST(LedgerInStep, StopIsNotMovedByWorkersWithoutAPart) {
  Ledger ledger({.end = 100, .batch_size = 1, .workers = 3, .in_step = true});
  std::vector<Lease> out;
  for (int worker = 0; worker < 3; ++worker)
    if (const auto lease = ledger.next(worker)) out.push_back(*lease);
  ASSERT_EQ(out.size(), 1U);
  ledger.done(out[0].id);
  ledger.stop();
  EXPECT_TRUE(ledger.is_over());
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(1, 100)));
}

TEST(LedgerInStep, WhatIsGivenBackGoesToTheNextWhoAsks) {
  Ledger ledger({.end = 20, .batch_size = 10, .workers = 2, .in_step = true});
  const Lease a = *ledger.next(0);
  const Lease b = *ledger.next(1);
  ledger.give_back(a.id);
  ledger.done(b.id);
  ledger.stop();
  EXPECT_FALSE(ledger.is_over());
  const auto again = ledger.next(1);
  ASSERT_TRUE(again);
  EXPECT_THAT(*again, Samples(0, 5));
  EXPECT_EQ(again->round, 0);
  EXPECT_NE(again->id, a.id);
  ledger.done(again->id);
  EXPECT_TRUE(ledger.is_over());
}

TEST(LedgerInStep, AnotherGroupRedoesTheRoundsThatNoWorkerIsDoneWith) {
  Ledger ledger({.begin = 2, .end = 50, .batch_size = 10, .workers = 2, .in_step = true});
  const Lease a = *ledger.next(0);
  ledger.next(1);
  ledger.next(0);
  ledger.done(a.id);  // the update of round 0 was made: the part of the other is in it
  ledger.regroup(3, 0, {});
  EXPECT_EQ(ledger.used(), 10);
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(12, 50)));
  EXPECT_THAT(*ledger.next(0), Samples(12, 15));
  EXPECT_THAT(*ledger.next(1), Samples(15, 19));
  const auto third = ledger.next(2);
  EXPECT_THAT(*third, Samples(19, 22));
  EXPECT_EQ(third->round, 1);
  ledger.regroup(1, 0, {});
  EXPECT_THAT(*ledger.next(0), Samples(12, 22));
}

// A worker has the answers of all servers and says so; the others are lost before the lead receives anything.
TEST(LedgerInStep, ARoundThatAWorkerIsDoneWithCountsAlsoIfItWasNotReportedYet) {
  Ledger ledger({.begin = 2, .end = 50, .batch_size = 10, .workers = 2, .in_step = true});
  const Lease a = *ledger.next(0);
  ledger.next(1);
  ledger.next(0);
  const std::vector<Lease> unreported = ledger.regroup(1, 0, {a.id});
  ASSERT_THAT(unreported, ElementsAre(Samples(2, 12)));
  EXPECT_EQ(unreported[0].round, 0);
  EXPECT_EQ(unreported[0].batch.size(), 10);
  EXPECT_EQ(ledger.used(), 10);
  EXPECT_FALSE(ledger.done(a.id)) << "it was counted";
  EXPECT_EQ(ledger.used(), 10);
  EXPECT_THAT(*ledger.next(0), Samples(12, 22));
}

TEST(LedgerInStep, ARoundThatOneWorkerHasReportedIsNotUnreported) {
  Ledger ledger({.end = 50, .batch_size = 10, .workers = 2, .in_step = true});
  const Lease a = *ledger.next(0);
  const Lease b = *ledger.next(1);
  ledger.done(a.id);
  EXPECT_THAT(ledger.regroup(2, 0, {b.id}), IsEmpty());
  EXPECT_EQ(ledger.used(), 10);
}

TEST(LedgerInStep, AnotherGroupAfterAStopBeginsNothing) {
  Ledger ledger({.end = 50, .batch_size = 10, .workers = 2, .in_step = true});
  ledger.next(0);
  ledger.stop();
  ledger.regroup(1, 0, {});
  EXPECT_FALSE(ledger.next(0));
  EXPECT_TRUE(ledger.is_over());
  EXPECT_THAT(ledger.remaining(), ElementsAre(Samples(0, 50)));
}

// Rounds are complete one after the other, as servers make them; reported by each worker later or, if it is lost, never.
void run_in_step_at_random(std::uint64_t seed) {
  RandomStream random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
  const std::int64_t begin = below(30), end = begin + below(300), batch = 6 + below(40);
  int workers = 1 + static_cast<int>(below(6));
  Ledger ledger({.begin = begin, .end = end, .batch_size = batch, .workers = workers, .in_step = true});
  const bool is_stopped = below(3) == 0;
  Uses uses(end);
  std::vector<std::vector<Lease>> out(static_cast<std::size_t>(workers));
  for (int turn = 0; turn < 20000 && !ledger.is_over(); ++turn) {
    const std::int64_t what = below(20);
    if (what < 12) {
      const std::int64_t worker = below(static_cast<std::uint64_t>(workers));
      auto& own = out[static_cast<std::size_t>(worker)];
      if (own.size() > 1) continue;  // asks ahead by one
      if (const auto lease = ledger.next(static_cast<int>(worker))) own.push_back(*lease);
    } else if (what < 18) {
      // The first round is pushed whole: all report, or some are lost on the way.
      std::int64_t round = end;
      std::int64_t pushed = 0;
      for (const auto& own : out) round = own.empty() ? round : std::min(round, own.front().round);
      for (const auto& own : out) pushed += !own.empty() && own.front().round == round ? own.front().size() : 0;
      const std::int64_t from = begin + ledger.used();
      if (round == end || pushed != std::min(batch, end - from)) continue;
      const bool lost = below(6) == 0;
      std::int64_t told = 0;
      std::vector<std::int64_t> kept;  // who lives, and reports it again
      for (auto& own : out) {
        if (own.empty() || own.front().round != round) continue;
        if (lost && below(2) == 0) continue;
        const bool is_kept = lost && below(2) == 0;
        if (is_kept) kept.push_back(own.front().id);
        if (is_kept) continue;
        ASSERT_TRUE(ledger.done(own.front().id));
        own.erase(own.begin());
        ++told;
      }
      // Else no worker is left that knows: it is done again, and servers that have it answer that they do.
      if (told > 0 || !kept.empty()) uses.add({from, from + pushed});
      if (!lost) continue;
      workers = 1 + static_cast<int>(below(6));
      const std::vector<Lease> unreported = ledger.regroup(workers, 0, kept);
      ASSERT_EQ(unreported.size(), told == 0 && !kept.empty() ? 1U : 0U);
      for (const Lease& lease : unreported) ASSERT_THAT(lease, Samples(from, from + pushed));
      out.assign(static_cast<std::size_t>(workers), {});
    } else if (what == 18) {
      workers = 1 + static_cast<int>(below(6));
      ledger.regroup(workers, 0, {});
      out.assign(static_cast<std::size_t>(workers), {});
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

TEST(LedgerInStep, UsesEverySampleOnceWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    run_in_step_at_random(seed);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace trireme::ps
