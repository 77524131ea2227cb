// SPDX-License-Identifier: Apache-2.0
// A subset shows samples, labels, targets, names and files of its base.
#include "trireme/data/source/subset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/data/source/memory_source.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;

// Sample i has the one value 10 i, the label i mod 3 and the target i + 0.5.
std::shared_ptr<const Source> ten_samples() {
  MemorySamples samples{.format = {.shape = {1}, .classes = 3, .targets = 1}, .file_starts = {0, 4, 5, 8}};
  for (int i = 0; i < 10; ++i) {
    samples.values.push_back(static_cast<std::byte>(10 * i));
    samples.labels.push_back(i % 3);
    samples.targets.push_back(static_cast<float>(i) + 0.5F);
  }
  return std::make_shared<MemorySource>(std::move(samples));
}

TEST(Subset, ShowsTheSamplesOfItsBaseInItsOwnOrder) {
  const Subset subset(ten_samples(), {7, 2, 2});
  EXPECT_EQ(subset.size(), 3);
  std::byte value{};
  subset.read(0, {&value, 1});
  EXPECT_EQ(value, std::byte{70});
  subset.read(2, {&value, 1});
  EXPECT_EQ(value, std::byte{20});
  EXPECT_EQ(subset.label(0), 1);
  EXPECT_THAT(subset.target(1), ElementsAre(2.5F));
  EXPECT_EQ(subset.sample_name(0), "#7");
  EXPECT_TRUE(subset.in_memory());
}

TEST(Subset, KeepsTheFilesThatAreLeft) {
  EXPECT_THAT(Subset(ten_samples(), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).file_starts(), ElementsAre(0, 4, 5, 8));
  EXPECT_THAT(Subset(ten_samples(), {1, 3, 5, 7, 9}).file_starts(), ElementsAre(0, 2, 4));
  EXPECT_THAT(Subset(ten_samples(), {5, 6}).file_starts(), ElementsAre(0));
  EXPECT_THAT(Subset(ten_samples(), {9, 1}).file_starts(), ElementsAre(0));
  EXPECT_THAT(Subset(ten_samples(), {}).file_starts(), ElementsAre(0));
}

TEST(SubsetDeathTest, AnIndexOutsideIsABug) { EXPECT_DEATH(Subset(ten_samples(), {10}), "inside its base"); }

}  // namespace
}  // namespace trireme::data
