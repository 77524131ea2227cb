// SPDX-License-Identifier: Apache-2.0
// A sample that can't be read becomes zeros and is named.
#include "trireme/data/source/tolerant_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

class EveryThirdIsDamaged final : public Source {
 public:
  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return 6; }
  std::int32_t label(std::int64_t) const override { return 0; }
  void read(std::int64_t index, std::span<std::byte> sample) const override {
    sample[0] = std::byte{9};
    if (index % 3 == 2) throw Error{data_loss, "sample {} is damaged", index};
    std::ranges::fill(sample, std::byte{7});
  }

 private:
  SampleFormat format_{.shape = {2}, .classes = 1};
};

TEST(TolerantSource, GoesOnAndNamesWhatIsDamaged) {
  const TolerantSource source(std::make_shared<EveryThirdIsDamaged>());
  for (std::int64_t i = 0; i < source.size(); ++i) {
    std::array<std::byte, 2> sample{};
    source.read(i, sample);
    EXPECT_EQ(sample[0], std::byte{i % 3 == 2 ? std::uint8_t{0} : std::uint8_t{7}});
    EXPECT_EQ(source.is_faulty(i), i % 3 == 2);
  }
  EXPECT_THAT(source.faults(), testing::ElementsAre(testing::Pair(2, "sample 2 is damaged"), testing::Pair(5, "sample 5 is damaged")));
}

}  // namespace
}  // namespace trireme::data
