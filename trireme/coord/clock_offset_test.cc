// SPDX-License-Identifier: Apache-2.0
// Clocks that are wrong, ways that are unlike: the estimate is never further from the truth than it says.
#include "trireme/coord/clock_offset.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "trireme/base/random.h"
#include "trireme/coord/testing/coordinator.h"

namespace trireme::coord {
namespace {

// The coordinator's clock is the truth; the node's is `skew` behind and `drift` slow.
struct World {
  double skew = 0, drift = 0;
  double now = 1.79e9;
  ClockOffset offset = {};

  double here() const { return now - skew - drift * (now - 1.79e9); }
  double truth() const { return now - here(); }
  void trip(double there, double work, double back) {
    RoundTrip trip{.sent = here()};
    now += there;
    trip.received = now;
    now += work;
    trip.answered = now;
    now += back;
    trip.back = here();
    offset.add(trip);
  }
};

TEST(ClockOffset, IsUnknownBeforeTheFirstRoundTrip) { EXPECT_FALSE(ClockOffset().estimate()); }

TEST(ClockOffset, IsExactIfBothWaysAreAlike) {
  World world{.skew = 3600};
  world.trip(0.010, 0.5, 0.010);
  EXPECT_NEAR(world.offset.estimate()->offset, 3600, 1e-5);
  EXPECT_NEAR(world.offset.estimate()->uncertainty, 0.010, 1e-5);
}

TEST(ClockOffset, IsAsFarOffAsItSaysAtMost) {
  RandomStream random(7);
  for (const double skew : {0.0, 3600.0, -7200.0, 3.15e8}) {
    World world{.skew = skew, .drift = 10e-6};
    for (int i = 0; i < 300; ++i) {
      // The way there is usually congested, the way back never.
      world.trip(0.0001 + 0.02 * random.uniform(), 0.0001, 0.0001 + 0.001 * random.uniform());
      world.now += 1;
      const auto estimate = *world.offset.estimate();
      ASSERT_LE(std::abs(estimate.offset - world.truth()), estimate.uncertainty + 1e-5 + 20e-6) << "trip " << i;
    }
    EXPECT_LT(world.offset.estimate()->uncertainty, 0.002);
  }
}

TEST(ClockOffset, FollowsAClockThatWasSet) {
  World world{.skew = 1};
  world.trip(0.0001, 0, 0.0001);
  world.skew = -5;
  for (int i = 0; i < 70; ++i) {
    world.trip(0.001, 0, 0.001);
    world.now += 1;
  }
  EXPECT_NEAR(world.offset.estimate()->offset, -5, 0.001);
}

TEST(ClockOffset, PassesOverARoundTripInWhichAClockWasSet) {
  ClockOffset offset;
  offset.add({.sent = 10, .received = 5, .answered = 5.1, .back = 3});
  EXPECT_FALSE(offset.estimate());
}

// Here both ends are one machine, so that the truth is known.
TEST(ClockOffset, OfAMemberIsThatOfItsSteadyClockToTheTimeOfDay) {
  Cluster cluster({"0"});
  const Seconds end = now() + kPatience;
  while (!cluster.nodes[0].clock_offset() && now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto estimate = cluster.nodes[0].clock_offset();
  ASSERT_TRUE(estimate);
  const double truth = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() - now().count();
  EXPECT_LE(std::abs(estimate->offset - truth), estimate->uncertainty + 0.01);
  EXPECT_LT(estimate->uncertainty, 5);
}

}  // namespace
}  // namespace trireme::coord
