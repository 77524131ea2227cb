// SPDX-License-Identifier: Apache-2.0
// Samples as pictures, rows and curves.
#include "trireme/run/learned/sample_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/data/images/image_codec.h"

namespace trireme::run {
namespace {

using data::Element;
using data::SampleFormat;
using testing::ElementsAre;
using testing::FloatEq;
using testing::StartsWith;

// The reverse of base/base64.h.
std::string decoded(const std::string& address) {
  static constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char sign : address.substr(address.find(',') + 1)) {
    if (sign == '=') break;
    group = group << 6U | static_cast<std::uint32_t>(kSigns.find(sign));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> static_cast<unsigned>(bits) & 255U);
  }
  return bytes;
}

data::Image picture_in(const Json& view) { return data::decode_image(decoded(view["picture"]), "picture"); }

TEST(SampleView, APictureHasItsColours) {
  const SampleFormat format{.shape = {3, 1 + 1, 1}, .element = Element::u8};
  const std::vector<float> values{1, 0, 0.2F, 0, 0, 1};  // red, green, blue planes of two pixels
  const Json view = view_of_values(format, values, 96);
  EXPECT_EQ(view["height"], 2);
  EXPECT_THAT(picture_in(view).pixels, ElementsAre(255, 51, 0, 0, 0, 255));
}

TEST(SampleView, OtherValuesAreStretched) {
  const SampleFormat format{.shape = {1, 2, 2}, .element = Element::f32};
  EXPECT_THAT(picture_in(view_of_values(format, std::vector<float>{-10, 0, 5, 10}, 96)).pixels, ElementsAre(0, 128, 191, 255));
  EXPECT_THAT(picture_in(view_of_values(format, std::vector<float>{7, 7, 7, 7}, 96)).pixels, ElementsAre(0, 0, 0, 0));
}

TEST(SampleView, ManyBandsAreOneGrey) {
  const SampleFormat format{.shape = {4, 2, 1}, .element = Element::u8};
  EXPECT_THAT(picture_in(view_of_values(format, std::vector<float>{1, 0, 1, 0, 0, 0, 0, 0}, 96)).pixels, ElementsAre(128, 0));
}

TEST(SampleView, ALargePictureIsMadeSmaller) {
  const SampleFormat format{.shape = {1, 200, 100}, .element = Element::u8};
  const Json view = view_of_values(format, std::vector<float>(20'000, 0.5F), 96);
  EXPECT_EQ(view["height"], 96);
  EXPECT_EQ(view["width"], 48);
  EXPECT_THAT(view["picture"].get<std::string>(), StartsWith("data:image/jpeg;base64,"));
}

TEST(SampleView, ShortVectorsAreRowsAndLongOnesCurves) {
  const Json row = view_of_values({.shape = {3}, .element = Element::f32}, std::vector<float>{5.1F, 1.0F / 3, -2000}, 96)["row"];
  EXPECT_EQ(row.dump(), R"([["1",5.1],["2",0.3333],["3",-2000.0]])");
  const Json view = view_of_values({.shape = {960}, .element = Element::f32}, std::vector<float>(960, 2), 96);
  EXPECT_EQ(view["points"], 960);
  ASSERT_EQ(view["curves"].size(), 1U);
  EXPECT_EQ(view["curves"][0].size(), 240U);
  EXPECT_EQ(view["curves"][0][17], 2.0);
  EXPECT_EQ(view_of_values({.shape = {2, 30}, .element = Element::f32}, std::vector<float>(60), 96)["curves"].size(), 2U);
}

TEST(SampleView, NormalisationCanBeTakenOff) {
  const SampleFormat format{.shape = {2, 2, 1}, .element = Element::u8};
  std::vector<float> values{-1, 1, 4, 2};
  undo({.kind = "standard", .mean = {0.5F, 0.25F}, .scale = {2, 8}}, format, values);
  EXPECT_THAT(values, ElementsAre(FloatEq(0), FloatEq(1), FloatEq(0.75F), FloatEq(0.5F)));
}

TEST(SampleView, ANameHasItsFolder) {
  EXPECT_EQ(short_name("/data/train/cat/1.png"), "cat/1.png");
  EXPECT_EQ(short_name("cat/1.png"), "cat/1.png");
  EXPECT_EQ(short_name("1.png"), "1.png");
  EXPECT_EQ(short_name("#17"), "#17");
}

}  // namespace
}  // namespace trireme::run
