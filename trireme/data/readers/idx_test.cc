// SPDX-License-Identifier: Apache-2.0
// Tests of IDX files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/formats/output_file.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string idx_header(char type, const std::vector<std::uint32_t>& dimensions) {
  std::string bytes{'\0', '\0', type, static_cast<char>(dimensions.size())};
  for (const std::uint32_t d : dimensions) bytes += big_endian(d);
  return bytes;
}

class Idx : public testing::Test {
 protected:
  std::filesystem::path images(const std::vector<std::uint32_t>& dimensions, std::string_view content, char type = 8) const {
    return folder_.write("images", idx_header(type, dimensions) + std::string(content));
  }
  std::filesystem::path labels(std::string_view content) const {
    return folder_.write("labels", idx_header(8, {static_cast<std::uint32_t>(content.size())}) + std::string(content));
  }
  static std::string failure(const std::filesystem::path& first, const std::filesystem::path& second, std::string_view options = "") {
    return thrown_error([&] { open_with("idx", {first, second}, options); });
  }

  ScratchFolder folder_;
};

TEST_F(Idx, RanksTwoToFourBecomeRowsAndImages) {
  const auto two = labels(std::string_view("\x00\x04", 2));
  const auto grey = open_with("idx", {images({2, 1, 3}, "abcdef"), two});
  EXPECT_EQ(grey->format().shape, (Shape{1, 1, 3}));
  EXPECT_EQ(grey->format().classes, 5);
  EXPECT_THAT(all_u8(*grey), ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  EXPECT_THAT(all_labels(*grey), ElementsAre(0, 4));
  EXPECT_EQ(open_with("idx", {images({2, 3, 1, 1}, "abcdef"), two})->format().shape, (Shape{3, 1, 1}));
  EXPECT_EQ(open_with("idx", {images({2, 3}, "abcdef"), two}, "classes = 10")->format().shape, Shape{3});
}

TEST_F(Idx, FloatsAreBigEndianAndFinite) {
  const std::string floats = big_endian(0x3f800000) + big_endian(0xc0490fdb);
  const auto source = open_with("idx", {images({1, 2}, floats, 13), labels("\x01")});
  EXPECT_EQ(source->format().element, Element::f32);
  EXPECT_THAT(all_f32(*source), ElementsAre(1.0F, -3.14159274F));
  EXPECT_THAT(failure(images({1, 2}, big_endian(0) + big_endian(0x7fc00000), 13), labels("\x01")),
              EndsWith("images: expected a finite number at byte 16, found nan"));
}

TEST_F(Idx, SeveralPairsFollowOneAnother) {
  const auto first = images({1, 1, 2}, "ab"), one = labels("\x01");
  const auto second = folder_.write("more", idx_header(8, {2, 1, 2}) + "cdef");
  const auto two = folder_.write("more_labels", idx_header(8, {2}) + "\x02\x03");
  const auto source = open_with("idx", {first, one, second, two});
  EXPECT_THAT(source->file_starts(), ElementsAre(0, 1));
  EXPECT_THAT(all_labels(*source), ElementsAre(1, 2, 3));
  EXPECT_EQ(all_u8(*source).back(), 'f');
  const auto wide = folder_.write("wide", idx_header(8, {2, 1, 3}) + "cdefgh");
  EXPECT_THAT(thrown_error([&] {
                open_with("idx", {first, one, wide, two});
              }),
              EndsWith("wide: expected images 1x1x2 like those of the first file, found 1x1x3"));
}

TEST_F(Idx, GzippedFilesAreReadUnderAnyNameAndCheckedToTheLastByte) {
  const auto label = labels("\x01");
  const auto path = folder_.path() / "zipped";
  OutputFile file(path, Compression::gzip);
  file.write(idx_header(8, {1, 2, 2}) + "wxyz");
  file.close();
  file.publish();
  EXPECT_THAT(all_u8(*open_with("idx", {path, label})), ElementsAre('w', 'x', 'y', 'z'));
  const std::string whole = read_file(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto cut = folder_.write("cut", whole.substr(0, length));
    EXPECT_THAT(failure(cut, label), HasSubstr("cut: ")) << length;
  }
  for (std::size_t at = whole.size() - 8; at < whole.size(); ++at) {  // CRC and length
    std::string wrong = whole;
    wrong[at] = static_cast<char>(wrong[at] ^ 4);
    EXPECT_THAT(failure(folder_.write("wrong", wrong), label), HasSubstr("wrong: damaged gzip data")) << at;
  }
}

TEST_F(Idx, WhatIsWrongIsSaidWithPlaceExpectedAndFound) {
  const auto good = images({2, 1, 1}, "ab");
  const auto good_labels = labels("\x01\x02");
  EXPECT_THAT(failure(folder_.write("text", "hello, this is no IDX file"), good_labels),
              EndsWith("text: expected the magic number of IDX at byte 0 (0, 0, type 8 or 13, rank 1 to 4), found 104, 101, 108, 108"));
  EXPECT_THAT(failure(folder_.write("short", idx_header(8, {60000, 28, 28}) + "abc"), good_labels),
              EndsWith("short: expected 47040000 bytes for 60000x28x28 values at byte 16, found 3; the file is cut off"));
  EXPECT_THAT(failure(folder_.write("long", idx_header(8, {2, 1, 1}) + "abc"), good_labels),
              EndsWith("long: expected the end at byte 18, found more bytes"));
  EXPECT_THAT(failure(folder_.write("none", idx_header(8, {0, 28, 28})), good_labels),
              EndsWith("none: expected a dimension of at least 1 at byte 4, found 0"));
  EXPECT_THAT(failure(folder_.write("huge", idx_header(8, {0xffffffff, 0xffffffff, 0xffffffff}) + "abc"), good_labels),
              EndsWith("huge: the dimensions 4294967295x4294967295x4294967295 are more than a file can hold"));
  EXPECT_THAT(failure(good, folder_.write("three", idx_header(8, {3}) + "\x01\x01\x01")),
              EndsWith("three: expected 2 labels, one an image, found 3 at byte 4"));
  EXPECT_THAT(failure(good, good_labels, "classes = 2"), EndsWith("labels: byte 9: expected a label from 0 to 1, found 2"));
  EXPECT_THAT(failure(good_labels, good), HasSubstr("labels: expected images, found a list of 2 labels"));
  EXPECT_THAT(thrown_error([&] { open_with("idx", {good}); }), HasSubstr("takes pairs of files"));
}

}  // namespace
}  // namespace trireme::data
