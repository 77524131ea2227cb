// SPDX-License-Identifier: Apache-2.0
// No worker gets further ahead than the bound, none waits for ever, and dssp waits where it costs least.
#include "trireme/ps/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "trireme/base/random.h"

namespace trireme::ps {
namespace {

Rules ssp(std::int64_t bound) { return {.mode = Mode::ssp, .staleness = bound}; }
Rules dssp(std::int64_t least, std::int64_t most) { return {.mode = Mode::dssp, .staleness_min = least, .staleness_max = most}; }

TEST(FurtherPushes, TestVectors) {
  EXPECT_EQ(further_pushes({10, 1}, {9, 3}, 12), 2);
  EXPECT_EQ(further_pushes({10, 1}, {9.5, 2.7}, 12), 5);
  EXPECT_EQ(further_pushes({100, 0.4}, {99, 1}, 4), 0);
}

TEST(FurtherPushes, OfEqualWaitsTheFewestPushes) {
  EXPECT_EQ(further_pushes({10, 1}, {8, 4.5}, 3), 2);       // 12 and 13 are equally far from 12.5
  EXPECT_EQ(further_pushes({10, 1}, {10, 1}, 12), 1);       // 11 and 11, 12 and 12 ...
  EXPECT_EQ(further_pushes({10, 0.1}, {9, 1}, 12), 0);      // 10 and 10, 11 and 11
  EXPECT_EQ(further_pushes({0.3, 0.1}, {0.3, 0.3}, 9), 3);  // rounding does not decide between 3 and 6
}

TEST(FurtherPushes, NoRoomNoPushes) { EXPECT_EQ(further_pushes({10, 1}, {9, 100}, 0), 0); }

TEST(Pace, AsyncWaitsForNoWorker) {
  Pace pace({.mode = Mode::async}, 2);
  for (int i = 0; i < 100; ++i) {
    pace.pushed(0, Seconds(i));
    EXPECT_TRUE(pace.may_go_on(0));
  }
  EXPECT_EQ(pace.ahead(0), 100);
  EXPECT_EQ(pace.ahead(1), 0);
  EXPECT_EQ(pace.pushes(0), 100);
}

TEST(Pace, SspWaitsOneBeyondTheBound) {
  Pace pace(ssp(2), 3);
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(0, Seconds(1));
  pace.pushed(0, Seconds(2));
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(0, Seconds(3));
  EXPECT_FALSE(pace.may_go_on(0));
  EXPECT_EQ(pace.ahead(0), 3);
  pace.pushed(1, Seconds(4));
  EXPECT_FALSE(pace.may_go_on(0));  // worker 2 has none yet
  pace.pushed(2, Seconds(5));
  EXPECT_TRUE(pace.may_go_on(0));
  EXPECT_EQ(pace.ahead(0), 2);
}

TEST(Pace, OnceAWorkerMayGoOnThatStays) {
  Pace pace(ssp(1), 2);
  pace.pushed(0, Seconds(1));
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(1, Seconds(1));
  pace.pushed(1, Seconds(2));
  EXPECT_TRUE(pace.may_go_on(0));
  EXPECT_TRUE(pace.may_go_on(1));
}

TEST(Pace, BoundZeroAndBspGoInStep) {
  for (const Rules& rules : {ssp(0), Rules{.mode = Mode::bsp}}) {
    Pace pace(rules, 3);
    for (int round = 0; round < 3; ++round) {
      pace.pushed(1, Seconds(round));
      pace.pushed(0, Seconds(round));
      EXPECT_FALSE(pace.may_go_on(0));
      EXPECT_FALSE(pace.may_go_on(1));
      pace.pushed(2, Seconds(round));
      for (int worker = 0; worker < 3; ++worker) EXPECT_TRUE(pace.may_go_on(worker));
    }
  }
}

TEST(Pace, BspDoesNotWaitForAsManyAsThereAreBackups) {
  Pace pace({.mode = Mode::bsp, .backup_workers = 1}, 3);
  pace.pushed(0, Seconds(1));
  EXPECT_FALSE(pace.may_go_on(0));
  pace.pushed(2, Seconds(2));
  EXPECT_TRUE(pace.may_go_on(0));
  EXPECT_TRUE(pace.may_go_on(2));
  pace.pushed(1, Seconds(3));
  EXPECT_TRUE(pace.may_go_on(1));
}

TEST(Pace, NoWorkerWaitsForTheRetired) {
  Pace pace(ssp(0), 3);
  pace.pushed(0, Seconds(1));
  pace.pushed(1, Seconds(1));
  EXPECT_FALSE(pace.may_go_on(0));
  pace.retire(2);
  EXPECT_TRUE(pace.may_go_on(0));
  EXPECT_TRUE(pace.may_go_on(1));
  EXPECT_TRUE(pace.is_retired(2));
  EXPECT_EQ(pace.active(), 2);
  pace.pushed(0, Seconds(2));
  EXPECT_FALSE(pace.may_go_on(0));
  pace.retire(1);
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(0, Seconds(3));
  EXPECT_TRUE(pace.may_go_on(0));  // alone
  pace.retire(0);
  EXPECT_EQ(pace.active(), 0);
  EXPECT_EQ(pace.ahead(0), 0);
}

// Workers of these seconds a push; each computes only while it may.
class Simulation {
 public:
  Simulation(const Rules& rules, std::vector<double> intervals)
      : pace_(rules, static_cast<int>(intervals.size())), intervals_(std::move(intervals)), due_(intervals_) {}

  // The next push; false: all wait.
  bool step() {
    const auto next = static_cast<std::size_t>(std::ranges::min_element(due_) - due_.begin());
    const double now = due_[next];
    if (now == kWaits) return false;
    pace_.pushed(static_cast<int>(next), Seconds(now));
    due_[next] = kWaits;
    if (!pace_.may_go_on(static_cast<int>(next))) ++waits_;
    for (std::size_t worker = 0; worker < due_.size(); ++worker) {
      if (due_[worker] != kWaits || !pace_.may_go_on(static_cast<int>(worker))) continue;
      most_ahead_ = std::max(most_ahead_, pace_.ahead(static_cast<int>(worker)));
      due_[worker] = now + intervals_[worker];
    }
    return true;
  }
  std::int64_t most_ahead() const { return most_ahead_; }
  int waits() const { return waits_; }

 private:
  static constexpr double kWaits = std::numeric_limits<double>::infinity();
  Pace pace_;
  std::vector<double> intervals_, due_;
  std::int64_t most_ahead_ = 0;
  int waits_ = 0;
};

TEST(Pace, DsspLetsTheFastestGoOnToWhereItWaitsShortest) {
  Pace pace(dssp(1, 13), 2);
  double now = 0;
  for (int i = 0; i < 3; ++i) pace.pushed(1, Seconds(now += 3));  // at 3, 6, 9
  for (int i = 0; i < 4; ++i) {
    pace.pushed(0, Seconds(7 + i));  // at 7, 8, 9, 10
    EXPECT_TRUE(pace.may_go_on(0));
  }
  pace.pushed(0, Seconds(11));  // two ahead. The slow one comes at 12, 15 ...: one more
  EXPECT_TRUE(pace.may_go_on(0));
  EXPECT_EQ(pace.ahead(0), 2);
  pace.pushed(0, Seconds(12));
  EXPECT_FALSE(pace.may_go_on(0));
  pace.pushed(1, Seconds(12.1));
  EXPECT_FALSE(pace.may_go_on(0));  // still two ahead: only the lower bound lets it go
  pace.pushed(1, Seconds(15));
  EXPECT_TRUE(pace.may_go_on(0));
}

TEST(Pace, DsspLetsOnlyTheFastestGoBeyondTheLowerBound) {
  Pace pace(dssp(1, 13), 3);
  for (int i = 1; i <= 2; ++i) pace.pushed(2, Seconds(10 * i));
  for (int i = 1; i <= 3; ++i) pace.pushed(1, Seconds(14 + i));
  for (int i = 1; i <= 4; ++i) pace.pushed(0, Seconds(20 + i));
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(1, Seconds(25));  // two ahead, but so is the fastest
  EXPECT_TRUE(pace.may_go_on(1));
  pace.pushed(0, Seconds(25));
  pace.pushed(1, Seconds(26));
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(0, Seconds(26));
  Pace slower(dssp(1, 13), 3);
  for (int i = 1; i <= 2; ++i) slower.pushed(2, Seconds(10 * i));
  for (int i = 1; i <= 5; ++i) slower.pushed(0, Seconds(20 + i));
  for (int i = 1; i <= 3; ++i) slower.pushed(1, Seconds(22 + i));
  EXPECT_TRUE(slower.may_go_on(1));
  slower.pushed(1, Seconds(26));
  EXPECT_FALSE(slower.may_go_on(1));  // two ahead of the slowest, one behind the fastest
}

TEST(Pace, DsspWithoutIntervalsOfTheSlowestWaits) {
  Pace pace(dssp(1, 9), 2);
  pace.pushed(1, Seconds(1));
  for (int i = 1; i <= 2; ++i) pace.pushed(0, Seconds(i));
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(0, Seconds(3));
  EXPECT_FALSE(pace.may_go_on(0));
}

// Both workers make a push a second, until the slow one makes a long pause: its interval does not suggest that it comes soon.
TEST(Pace, OneLongPauseDoesNotDecide) {
  Pace pace(dssp(1, 100), 2);
  for (int i = 1; i <= 6; ++i) {
    pace.pushed(0, Seconds(i));
    pace.pushed(1, Seconds(i + 0.5));
  }
  pace.pushed(1, Seconds(60.5));  // 54 seconds after its last
  for (int i = 0; i < 2; ++i) pace.pushed(0, Seconds(60.6 + i));
  EXPECT_TRUE(pace.may_go_on(0));
  pace.pushed(0, Seconds(62.6));  // two ahead. With the median: at 61.5, 62.5, 63.5 ...: now is as good as later
  EXPECT_FALSE(pace.may_go_on(0));
}

TEST(Pace, TimeSpentWaitingIsNoPartOfAnInterval) {
  Pace pace(dssp(0, 10), 2);
  for (const double now : {1.0, 11.0}) {
    pace.pushed(0, Seconds(now));
    EXPECT_FALSE(pace.may_go_on(0));
    pace.pushed(1, Seconds(now + 9));
    EXPECT_TRUE(pace.may_go_on(0));
  }
  for (int now = 21; now < 30; ++now) {  // a second a push, not ten: the slow one comes at 30
    pace.pushed(0, Seconds(now));
    EXPECT_TRUE(pace.may_go_on(0)) << now;
  }
  pace.pushed(0, Seconds(30));
  EXPECT_FALSE(pace.may_go_on(0));
  EXPECT_EQ(pace.ahead(0), 10);
}

TEST(Pace, DsspStaysBetweenItsBounds) {
  Simulation two(dssp(1, 13), {1, 4});
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(two.step());
  EXPECT_GT(two.most_ahead(), 1);
  EXPECT_LE(two.most_ahead(), 13);
}

TEST(Pace, DsspWaitsLessOftenThanSspWithItsLowerBound) {
  const auto waits = [](const Rules& rules) {
    Simulation simulation(rules, {1, 1.3, 2.1});
    for (int i = 0; i < 80; ++i) EXPECT_TRUE(simulation.step());
    return simulation.waits();
  };
  EXPECT_LT(2 * waits(dssp(3, 15)), waits(ssp(3)));
}

// Any order of pushes in which only those push that may.
void run_at_random(const Rules& rules, std::int64_t bound, std::uint64_t seed) {
  RandomStream random(seed);
  const int workers = 1 + static_cast<int>(random.below(6));
  Pace pace(rules, workers);
  std::vector<std::int64_t> weights;
  for (int i = 0; i < workers; ++i) weights.push_back(1 + static_cast<std::int64_t>(random.below(20)));
  double now = 0;
  while (pace.active() > 0) {
    std::vector<int> ready;
    for (int i = 0; i < workers; ++i)
      if (!pace.is_retired(i) && pace.may_go_on(i))
        ready.insert(ready.end(), static_cast<std::size_t>(weights[static_cast<std::size_t>(i)]), i);
    ASSERT_FALSE(ready.empty()) << "all workers wait";
    const int worker = ready[random.below(ready.size())];
    if (random.below(200) == 0) {
      pace.retire(worker);
      continue;
    }
    now += random.uniform();
    pace.pushed(worker, Seconds(now));
    for (int i = 0; i < workers; ++i) ASSERT_TRUE(pace.is_retired(i) || !pace.may_go_on(i) || pace.ahead(i) <= bound) << pace.ahead(i);
  }
}

TEST(Pace, NoWorkerIsFurtherAheadThanTheBoundAndOneCanAlwaysGoOn) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    run_at_random(ssp(0), 0, seed);
    run_at_random({.mode = Mode::bsp}, 0, seed);
    run_at_random(ssp(1), 1, seed);
    run_at_random(ssp(5), 5, seed);
    run_at_random(dssp(0, 4), 4, seed);
    run_at_random(dssp(3, 15), 15, seed);
    run_at_random(dssp(2, 2), 2, seed);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace trireme::ps
