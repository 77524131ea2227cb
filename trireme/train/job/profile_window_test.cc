// SPDX-License-Identifier: Apache-2.0
// Tests of which steps the text of observe.profile means.
#include "trireme/train/job/profile_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::train {
namespace {

TEST(ProfileWindow, OfNothingIsOff) {
  EXPECT_FALSE(parse_profile("").is_on());
  EXPECT_FALSE(parse_profile("").contains(0, 0));
}

TEST(ProfileWindow, CountsStepsFromOneWithBothEnds) {
  const ProfileWindow window = parse_profile("steps 100-119");
  EXPECT_FALSE(window.contains(99, 0));
  EXPECT_TRUE(window.contains(100, 0));
  EXPECT_TRUE(window.contains(119, 7));
  EXPECT_FALSE(window.contains(120, 0));
  EXPECT_TRUE(parse_profile("step 7").contains(7, 0));
  EXPECT_FALSE(parse_profile("steps 7").contains(8, 0));
}

TEST(ProfileWindow, CountsEpochsAsPeopleDo) {
  const ProfileWindow window = parse_profile("epochs 2 - 3");
  EXPECT_FALSE(window.contains(1, 0));
  EXPECT_TRUE(window.contains(1, 1));
  EXPECT_TRUE(window.contains(999, 2));
  EXPECT_FALSE(window.contains(999, 3));
}

TEST(ProfileWindow, RefusesWhatItDoesNotUnderstand) {
  for (const std::string_view text :
       {"steps", "100-119", "steps 5-3", "steps 0-3", "steps 1-", "steps 1-2x", "stepss 1", "epochs -1", "steps 99999999999999999999"})
    EXPECT_THAT(thrown_error([&] { parse_profile(text); }), testing::HasSubstr("steps 100-119")) << text;
}

}  // namespace
}  // namespace trireme::train
