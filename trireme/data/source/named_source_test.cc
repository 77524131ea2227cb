// SPDX-License-Identifier: Apache-2.0
// Names of values are found behind subsets.
#include "trireme/data/source/named_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/data/source/memory_source.h"
#include "trireme/data/source/subset.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::unique_ptr<Source> two_rows() {
  MemorySamples samples{.format = {.shape = {2}, .element = Element::u8, .classes = 2}, .values = {}, .labels = {0, 1}, .targets = {}};
  samples.values.resize(4);
  return std::make_unique<MemorySource>(std::move(samples));
}

TEST(NamedSource, KeepsItsNamesInSubsets) {
  const auto named = std::make_shared<NamedSource>(two_rows(), std::vector<std::string>{"length", "width"});
  EXPECT_THAT(value_names(*named), ElementsAre("length", "width"));
  const auto part = std::make_shared<Subset>(named, std::vector<std::int64_t>{1});
  EXPECT_THAT(value_names(Subset(part, {0})), ElementsAre("length", "width"));
  EXPECT_EQ(part->label(0), 1);
  EXPECT_THAT(value_names(*two_rows()), IsEmpty());
}

}  // namespace
}  // namespace trireme::data
