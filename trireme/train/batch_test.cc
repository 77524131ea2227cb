// SPDX-License-Identifier: Apache-2.0
// A batch holds the chosen samples, their labels and their random streams.
#include "trireme/train/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/random.h"

namespace trireme::train {
namespace {

TEST(Batch, GathersTheChosenSamples) {
  const data::SampleSet samples{.shape = {2}, .classes = 3, .values = {0, 1, 10, 11, 20, 21}, .labels = {0, 1, 2}};
  Batch batch(samples, 4);
  const engine::BatchView view = batch.fill(std::vector<std::int64_t>{2, 0}, 77);
  EXPECT_EQ(view.size, 2);
  EXPECT_THAT(view.inputs.at(0), testing::ElementsAre(20, 21, 0, 1));
  EXPECT_THAT(view.labels, testing::ElementsAre(2, 0));
  EXPECT_THAT(view.sample_keys, testing::ElementsAre(combine(77, 2), combine(77, 0)));
}

}  // namespace
}  // namespace trireme::train
