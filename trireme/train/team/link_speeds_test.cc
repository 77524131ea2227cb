// SPDX-License-Identifier: Apache-2.0
// Whose link is slow, by what the connections of all deliver.
#include "trireme/train/team/link_speeds.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(LinkSpeeds, TheWorkerWhoseConnectionsAreAllSlowIsNamed) {
  const std::vector<double> rates = {0,     1.1e6, 9e7,  //
                                     1.2e6, 0,     1e6,  //
                                     8e7,   1.2e6, 0};
  const auto slow = find_slow_link(rates, 3);
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->rank, 1);
  EXPECT_EQ(slow->bytes_per_second, 1.2e6);
  EXPECT_EQ(slow->typical, 8e7);
}

// It receives as fast as the others, but sends slowly.
TEST(LinkSpeeds, OneDirectionIsEnough) {
  const std::vector<double> rates = {0,   1e6, 1e6,  //
                                     9e7, 0,   9e7,  //
                                     9e7, 9e7, 0};
  const auto slow = find_slow_link(rates, 3);
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->rank, 0);
}

TEST(LinkSpeeds, OneSlowConnectionIsNotASlowLink) {
  const std::vector<double> rates = {0,   1e6, 9e7,  //
                                     1e6, 0,   9e7,  //
                                     9e7, 9e7, 0};
  EXPECT_FALSE(find_slow_link(rates, 3).has_value());
}

TEST(LinkSpeeds, ABusyMachineOnAFastLinkIsNoSlowLink) {
  EXPECT_FALSE(find_slow_link(std::vector<double>{0, 6.7e8, 3e9, 6.7e8, 0, 6.7e8, 3e9, 6.7e8, 0}, 3).has_value());
}

TEST(LinkSpeeds, NothingIsSaidOfTwoOrOfWhatIsNotKnown) {
  EXPECT_FALSE(find_slow_link(std::vector<double>{0, 1e6, 9e7, 0}, 2).has_value());
  EXPECT_FALSE(find_slow_link(std::vector<double>(9, 0.0), 3).has_value());
  EXPECT_FALSE(find_slow_link(std::vector<double>{0, 5e7, 9e7, 6e7, 0, 9e7, 4e7, 9e7, 0}, 3).has_value());
}

}  // namespace
}  // namespace trireme::train
