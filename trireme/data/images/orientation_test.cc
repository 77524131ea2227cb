// SPDX-License-Identifier: Apache-2.0
// Pictures of all eight orientations become the same upright one; odd EXIF data do no harm.
#include "trireme/data/images/orientation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/data/testing/exif.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;

struct Case {
  Orientation orientation;
  Image stored;
};

// By the definition in EXIF: which sides of the upright picture are the stored row 0 and column 0.
//   upright  1 2 3
//            4 5 6
const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{{Orientation::upright, {2, 3, 1, {1, 2, 3, 4, 5, 6}}},              // top, left
                                        {Orientation::mirror, {2, 3, 1, {3, 2, 1, 6, 5, 4}}},               // top, right
                                        {Orientation::half_turn, {2, 3, 1, {6, 5, 4, 3, 2, 1}}},            // bottom, right
                                        {Orientation::flip, {2, 3, 1, {4, 5, 6, 1, 2, 3}}},                 // bottom, left
                                        {Orientation::transpose, {3, 2, 1, {1, 4, 2, 5, 3, 6}}},            // left, top
                                        {Orientation::quarter_turn, {3, 2, 1, {3, 6, 2, 5, 1, 4}}},         // right, top
                                        {Orientation::transverse, {3, 2, 1, {6, 3, 5, 2, 4, 1}}},           // right, bottom
                                        {Orientation::three_quarter_turn, {3, 2, 1, {4, 1, 5, 2, 6, 3}}}};  // left, bottom
  return kCases;
}

TEST(Orientation, EveryPictureBecomesUpright) {
  for (const auto& [orientation, stored] : cases()) {
    const Image image = upright(stored, orientation);
    EXPECT_THAT(image.pixels, ElementsAre(1, 2, 3, 4, 5, 6)) << static_cast<int>(orientation);
    EXPECT_EQ(image.height, 2);
    EXPECT_EQ(image.width, 3);
    EXPECT_EQ(upright(ImageSize{stored.height, stored.width, 1}, orientation).width, 3);
  }
}

TEST(Orientation, ColoursStayTogether) {
  EXPECT_THAT(upright(Image{1, 2, 3, {1, 2, 3, 4, 5, 6}}, Orientation::half_turn).pixels, ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(Orientation, IsFoundInBothFormatsAndByteOrders) {
  const Image image{2, 3, 1, {1, 2, 3, 4, 5, 6}};
  for (const std::string& picture : {encode_png(image), encode_jpeg(image, 90)}) {
    EXPECT_EQ(find_orientation(picture), Orientation::upright);
    for (char number = 1; number <= 8; ++number)
      for (const bool little_endian : {true, false})
        EXPECT_EQ(find_orientation(with_exif(picture, exif_tiff(number, little_endian))), static_cast<Orientation>(number));
  }
}

TEST(Orientation, OddDataSayNothing) {
  const std::string jpeg = encode_jpeg({2, 3, 1, {1, 2, 3, 4, 5, 6}}, 90);
  const std::string tiff = exif_tiff(6);
  EXPECT_EQ(find_orientation(with_exif(jpeg, exif_tiff(9))), Orientation::upright);
  EXPECT_EQ(find_orientation(with_exif(jpeg, exif_tiff(0))), Orientation::upright);
  EXPECT_EQ(find_orientation(with_exif(jpeg, "XX" + tiff.substr(2))), Orientation::upright);
  std::string elsewhere = tiff;
  elsewhere.replace(4, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(find_orientation(with_exif(jpeg, elsewhere)), Orientation::upright);
  for (std::size_t size = 0; size + 12 < tiff.size(); ++size)
    EXPECT_EQ(find_orientation(with_exif(jpeg, tiff.substr(0, size))), Orientation::upright) << size;
}

// A caller with the first bytes of a file learns that it needs more of them.
TEST(Orientation, ATooShortHeaderIsNoAnswer) {
  const Image image{2, 3, 1, {1, 2, 3, 4, 5, 6}};
  for (const std::string& picture : {encode_png(image), encode_jpeg(image, 90)}) {
    const std::string turned = with_exif(picture, exif_tiff(6));
    EXPECT_EQ(find_orientation(turned.substr(0, 40)), std::nullopt);
  }
}

}  // namespace
}  // namespace trireme::data
