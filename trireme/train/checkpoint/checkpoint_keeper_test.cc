// SPDX-License-Identifier: Apache-2.0
// Tests of checkpoints on a disk that refuses them: what is there stays, and what could not be written is tried again.
#include "trireme/train/checkpoint/checkpoint_keeper.h"

#include <gmock/gmock.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/limited_files.h"
#include "trireme/train/testing/sample_checkpoint.h"

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CheckpointKeeperTest : public CheckpointTest {
 protected:
  FakeClock clock_;
  std::vector<CheckpointKeeper::Refusal> refusals_;
  std::vector<CheckpointKeeper::Recovery> recoveries_;
  std::vector<std::int64_t> written_;
  CheckpointKeeper keeper_{
      store_,
      clock_,
      {.refused = [this](const CheckpointKeeper::Refusal& refusal) { refusals_.push_back(refusal); },
       .written = [this](const Checkpoint& checkpoint, const CheckpointRecord&) { written_.push_back(checkpoint.cursor.step); },
       .recovered = [this](const CheckpointKeeper::Recovery& recovery) { recoveries_.push_back(recovery); }}};
};

TEST_F(CheckpointKeeperTest, OneThatTheDiskRefusesStaysInMemoryAndLeavesTheOthersAsTheyAre) {
  ASSERT_TRUE(keeper_.save(sample_checkpoint(graph_, 1)));
  const std::string before = read_file(folder_ / "step-00000001" / "model.safetensors");
  {
    const LimitedFiles full(10);
    EXPECT_FALSE(keeper_.save(sample_checkpoint(graph_, 2)));
    clock_.advance(Seconds(5));
    EXPECT_FALSE(keeper_.save(sample_checkpoint(graph_, 3)));
    clock_.advance(Seconds(5));
    EXPECT_FALSE(keeper_.retry());
  }
  EXPECT_THAT(entries(), ElementsAre("step-00000001"));
  EXPECT_EQ(read_file(folder_ / "step-00000001" / "model.safetensors"), before);
  ASSERT_EQ(refusals_.size(), 3U);
  EXPECT_EQ(refusals_[0].step, 2);
  EXPECT_THAT(refusals_[0].reason, HasSubstr("model.safetensors: File too large"));
  EXPECT_EQ(refusals_[0].newest.filename(), "step-00000001");
  EXPECT_EQ(refusals_[2].step, 3);
  EXPECT_EQ(refusals_[2].tries, 3);
  ASSERT_TRUE(keeper_.refusal());
  EXPECT_EQ(keeper_.refusal()->step, 3);

  const auto record = keeper_.retry();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->step, 3);
  EXPECT_FALSE(keeper_.refusal());
  EXPECT_FALSE(keeper_.retry());
  EXPECT_THAT(entries(), ElementsAre("step-00000001", "step-00000003"));
  EXPECT_THAT(written_, ElementsAre(1, 3));
  ASSERT_EQ(recoveries_.size(), 1U);
  EXPECT_EQ(recoveries_[0].tries, 3);
  EXPECT_EQ(recoveries_[0].seconds, Seconds(10));
}

TEST_F(CheckpointKeeperTest, WhatIsDroppedIsNotTriedAgain) {
  {
    const LimitedFiles full(10);
    EXPECT_FALSE(keeper_.save(sample_checkpoint(graph_, 2)));
  }
  EXPECT_TRUE(refusals_[0].newest.empty());
  keeper_.drop();
  EXPECT_FALSE(keeper_.refusal());
  EXPECT_FALSE(keeper_.retry());
}

TEST_F(CheckpointKeeperTest, NamesTheOneThatARunGoesOnFrom) {
  save(4);
  ASSERT_TRUE(keeper_.load_newest());
  const LimitedFiles full(10);
  EXPECT_FALSE(keeper_.save(sample_checkpoint(graph_, 5)));
  EXPECT_EQ(refusals_[0].newest.filename(), "step-00000004");
}

TEST_F(CheckpointKeeperTest, AnotherFaultIsThrown) {
  Checkpoint bad = sample_checkpoint(graph_, 2);
  bad.parameters[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(keeper_.save(std::move(bad)), Error);
  EXPECT_FALSE(keeper_.refusal());
}

}  // namespace
}  // namespace trireme::train
