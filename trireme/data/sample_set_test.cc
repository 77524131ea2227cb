// SPDX-License-Identifier: Apache-2.0
// A sample set holds what the generator makes, whoever made it.
#include "trireme/data/sample_set.h"

#include <gtest/gtest.h>

#include "trireme/base/parallel.h"
#include "trireme/data/synthetic_digits.h"

namespace trireme::data {
namespace {

TEST(SampleSet, HoldsTheSyntheticDigits) {
  const ThreadScope scope(2);
  const SampleSet set = synthetic_digits(9, 300);
  ASSERT_EQ(set.size(), 300);
  EXPECT_EQ(set.shape, (Shape{1, 28, 28}));
  std::vector<float> image(SyntheticDigits::kPixels);
  SyntheticDigits(9).make_image(211, image);
  const auto sample = set.sample(211);
  EXPECT_EQ(std::vector<float>(sample.begin(), sample.end()), image);
  EXPECT_EQ(set.labels[211], SyntheticDigits(9).label(211));
}

}  // namespace
}  // namespace trireme::data
