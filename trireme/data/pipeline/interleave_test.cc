// SPDX-License-Identifier: Apache-2.0
// Orders made by hand, and TensorFlow's own example with block length 1.
#include "trireme/data/pipeline/interleave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::data {
namespace {

using testing::ElementsAre;

TEST(Interleave, EvenFilesTakeTurns) {
  EXPECT_THAT(interleaved_order({0, 3}, 6, 2), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(interleaved_order({0, 2, 4}, 6, 3), ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(Interleave, OneFileAfterTheOther) {
  EXPECT_THAT(interleaved_order({0, 1, 3}, 5, 1), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(interleaved_order({0}, 3, 8), ElementsAre(0, 1, 2));
}

// Files a (0 1 2), b (3), c (4 5): b's end is found on its second turn, c is opened on its third.
TEST(Interleave, AFinishedFileIsFoundOnItsTurnAndReplacedOnTheNext) {
  EXPECT_THAT(interleaved_order({0, 3, 4}, 6, 2), ElementsAre(0, 3, 1, 2, 4, 5));
}

// a (0), b (1 2 3 4), c (5 6 7), d (8): a0 b0 | a ends, b1 | c0 b2 | c1 b3 | c2, b ends | c ends, d0.
TEST(Interleave, UnevenFiles) { EXPECT_THAT(interleaved_order({0, 1, 5, 8}, 9, 2), ElementsAre(0, 1, 2, 5, 3, 6, 4, 7, 8)); }

TEST(Interleave, MoreTurnsThanFiles) { EXPECT_THAT(interleaved_order({0, 1, 5}, 7, 10), ElementsAre(0, 1, 5, 2, 6, 3, 4)); }

TEST(Interleave, EmptyFilesAreNoObstacle) { EXPECT_THAT(interleaved_order({0, 0, 2, 2}, 4, 2), testing::UnorderedElementsAre(0, 1, 2, 3)); }

}  // namespace
}  // namespace trireme::data
