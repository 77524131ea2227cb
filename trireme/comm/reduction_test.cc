// SPDX-License-Identifier: Apache-2.0
// Conversions against slow ones, over all 16-bit patterns and all rounding cases, for each instruction set of this CPU.
#include "trireme/comm/reduction.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace trireme::comm {
namespace {

double f16_value(unsigned bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = static_cast<int>((bits >> 10U) & 31U);
  const double mantissa = bits & 0x3ffU;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return exponent == 0 ? sign * std::ldexp(mantissa, -24) : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double bf16_value(unsigned bits) { return std::bit_cast<float>(bits << 16U); }

struct Case {
  std::string name;
  Reductions use;
};

std::vector<Case> cases() {
  std::vector<Case> all{{"generic", generic::reductions()}, {"this CPU's", reductions()}};
  if (__builtin_cpu_supports("avx2")) all.push_back({"avx2", avx2::reductions()});
  return all;
}

struct Half {
  double (*value)(unsigned);
  decltype(Reductions::to_f16) Reductions::*to;
  decltype(Reductions::from_f16) Reductions::*from;
  unsigned infinity;
};

const std::vector<Half> kHalves{{f16_value, &Reductions::to_f16, &Reductions::from_f16, 0x7c00},
                                {bf16_value, &Reductions::to_bf16, &Reductions::from_bf16, 0x7f80}};

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }

TEST(Half, EveryPatternComesBack) {
  std::vector<std::uint16_t> all(65536);
  for (unsigned i = 0; i < 65536; ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const auto& [name, use] : cases()) {
    for (const auto& half : kHalves) {
      std::vector<float> values(all.size());
      std::vector<std::uint16_t> back(all.size());
      (use.*half.from)(values.data(), all.data(), all.size());
      (use.*half.to)(back.data(), values.data(), values.size());
      for (unsigned i = 0; i < 65536; ++i) {
        ASSERT_TRUE(same(values[i], half.value(i))) << name << " " << i;
        ASSERT_TRUE(back[i] == i || std::isnan(values[i])) << name << " " << i;
        ASSERT_TRUE(same(half.value(back[i]), half.value(i))) << name << " " << i;
      }
    }
  }
}

// Between each two neighbours: below the middle, the middle itself (to the even one), above it.
TEST(Half, RoundsToNearestEven) {
  for (const auto& [name, use] : cases()) {
    for (const auto& half : kHalves) {
      for (unsigned low = 0; low + 1 < half.infinity; ++low) {
        const auto middle = static_cast<float>((half.value(low) + half.value(low + 1)) / 2);
        if (half.value(low + 1) - half.value(low) < 1e-38) continue;  // below f32's normal numbers
        const std::vector<float> in{std::nextafter(middle, 0.0F), middle, std::nextafter(middle, std::numeric_limits<float>::infinity()),
                                    -middle};
        std::vector<std::uint16_t> out(in.size());
        (use.*half.to)(out.data(), in.data(), in.size());
        const unsigned even = low % 2 == 0 ? low : low + 1;
        ASSERT_EQ(out, (std::vector<std::uint16_t>{static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(even),
                                                   static_cast<std::uint16_t>(low + 1), static_cast<std::uint16_t>(even | 0x8000U)}))
            << name << " " << low;
      }
    }
  }
}

TEST(Half, TooLargeBecomesInfinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in{65519.9F, 65520.0F, 1e9F, -1e9F, infinity, 3.4e38F};
  std::vector<std::uint16_t> out(in.size());
  for (const auto& [name, use] : cases()) {
    use.to_f16(out.data(), in.data(), in.size());
    EXPECT_EQ(out, (std::vector<std::uint16_t>{0x7bff, 0x7c00, 0x7c00, 0xfc00, 0x7c00, 0x7c00})) << name;
    use.to_bf16(out.data(), in.data() + 4, 2);
    EXPECT_EQ(out[0], 0x7f80) << name;
    EXPECT_EQ(out[1], 0x7f80) << name;
  }
}

TEST(Sums, OddLengthsInPlaceAndNotBeyond) {
  for (const auto& [name, use] : cases()) {
    for (std::size_t count = 0; count < 70; ++count) {
      std::vector<float> sum(71, 1);
      const std::vector<float> more(71, 2);
      const std::vector<std::uint16_t> bf16(71, 0x3f80);  // 1
      const std::vector<std::uint16_t> f16(71, 0x3c00);
      use.add_f32(sum.data(), sum.data(), more.data(), count);
      use.add_bf16_to_f32(sum.data(), bf16.data(), count);
      use.add_f16_to_f32(sum.data(), f16.data(), count);
      for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], i < count ? 5 : 1) << name;
      std::vector<std::uint16_t> halves = f16;
      use.add_f16(halves.data(), halves.data(), f16.data(), count);
      for (std::size_t i = 0; i < halves.size(); ++i) ASSERT_EQ(halves[i], i < count ? 0x4000 : 0x3c00) << name;
    }
  }
}

}  // namespace
}  // namespace trireme::comm
