// SPDX-License-Identifier: Apache-2.0
// Folders of images: classes, order, sizes and colours, and what is refused when they are opened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/image_files.h"
#include "trireme/data/testing/exif.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageFolderTest : public testing::Test {
 protected:
  // Not atomically: hundreds of these would wait for the disk.
  void write(const std::string& name, std::string_view bytes) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  // A picture of one colour whose left half is `left` and whose right half is 0.
  static Image picture(std::int64_t height, std::int64_t width, std::int64_t channels, std::uint8_t left) {
    Image image{height, width, channels, {}};
    for (std::int64_t i = 0; i < height * width * channels; ++i) {
      const std::int64_t x = i / channels % width;
      image.pixels.push_back(x < width / 2 ? left : std::uint8_t{0});
    }
    return image;
  }
  std::unique_ptr<Source> open(std::string_view options = "", std::vector<fs::path> folders = {}) const {
    if (folders.empty()) folders = {root_};
    return open_with("image_folder", std::move(folders), options);
  }
  std::string refusal(std::string_view options = "") const {
    return thrown_error([&] { open(options); });
  }
  static std::vector<int> values(const Source& source, std::int64_t index) {
    std::vector<std::byte> bytes(source.format().sample_bytes());
    source.read(index, bytes);
    std::vector<int> values(bytes.size());
    std::transform(bytes.begin(), bytes.end(), values.begin(), [](std::byte b) { return std::to_integer<int>(b); });
    return values;
  }

  ScratchFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(ImageFolderTest, ASubFolderIsAClassAndNamesAreSorted) {
  write("cat/b.png", encode_png(picture(2, 2, 1, 2)));
  write("cat/a/z.PNG", encode_png(picture(2, 2, 1, 1)));
  write("ant/x.jpeg", encode_jpeg(picture(2, 2, 1, 200), 100));
  const auto source = open();
  EXPECT_EQ(source->size(), 3);
  EXPECT_EQ(source->format().shape, (Shape{1, 2, 2}));
  EXPECT_THAT(source->format().class_names, ElementsAre("ant", "cat"));
  EXPECT_THAT((std::vector{source->sample_name(0), source->sample_name(1), source->sample_name(2)}),
              ElementsAre("ant/x.jpeg", "cat/a/z.PNG", "cat/b.png"));
  EXPECT_THAT((std::vector{source->label(0), source->label(1), source->label(2)}), ElementsAre(0, 1, 1));
  EXPECT_THAT(values(*source, 2), ElementsAre(2, 0, 2, 0));
  EXPECT_TRUE(source->warnings().empty());
}

TEST_F(ImageFolderTest, ColoursArePlanes) {
  write("a/x.png", encode_png({1, 2, 3, {1, 2, 3, 4, 5, 6}}));
  EXPECT_THAT(values(*open(), 0), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST_F(ImageFolderTest, SeveralFoldersShareTheirClasses) {
  write("one/cat/1.png", encode_png(picture(2, 2, 1, 1)));
  write("two/ant/2.png", encode_png(picture(2, 2, 1, 2)));
  write("two/cat/3.png", encode_png(picture(2, 2, 1, 3)));
  const auto source = open("", {root_ / "one", root_ / "two"});
  EXPECT_THAT(source->format().class_names, ElementsAre("ant", "cat"));
  EXPECT_THAT((std::vector{source->label(0), source->label(1), source->label(2)}), ElementsAre(0, 1, 1));
  EXPECT_EQ(values(*source, 1)[0], 1);
}

TEST_F(ImageFolderTest, OtherFilesArePassedOverAndNamed) {
  write("a/x.png", encode_png(picture(2, 2, 1, 1)));
  write("a/notes.txt", "text");
  write("a/.hidden.png", "nothing");
  write("list.csv", "");
  const auto source = open();
  EXPECT_EQ(source->size(), 1);
  ASSERT_EQ(source->warnings().size(), 1U);
  EXPECT_THAT(source->warnings()[0], testing::AllOf(HasSubstr("passed over 2"), HasSubstr("notes.txt"), HasSubstr("list.csv")));
}

TEST_F(ImageFolderTest, AnotherSizeIsResizedOnRequestOnly) {
  write("a/1.png", encode_png(picture(2, 2, 1, 100)));
  write("a/2.png", encode_png(picture(4, 8, 1, 100)));
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("2.png: is 1x4x8"), HasSubstr("1.png is 1x2x2"), HasSubstr("write data.height = 2")));
  const auto source = open("height = 2\nwidth = 2");
  EXPECT_THAT(values(*source, 1), ElementsAre(100, 0, 100, 0));
}

// The middle of a wide picture: a quarter of it on each side is cut off.
TEST_F(ImageFolderTest, CroppingKeepsTheShape) {
  write("a/1.png", encode_png({2, 4, 1, {1, 2, 3, 4, 5, 6, 7, 8}}));
  EXPECT_THAT(values(*open("height = 2\nwidth = 2\nfit = 'crop'"), 0), ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(values(*open("height = 2\nwidth = 2"), 0), ElementsAre(2, 4, 6, 8));
}

TEST_F(ImageFolderTest, ChannelsAreConvertedOnRequestOnly) {
  write("a/1.png", encode_png({1, 1, 3, {255, 0, 0}}));
  write("a/2.png", encode_png({1, 1, 1, {9}}));
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("2.png: is 1x1x1"), HasSubstr("1.png is 3x1x1")));
  EXPECT_THAT(values(*open("channels = 1"), 0), ElementsAre(76));
  EXPECT_THAT(values(*open("channels = 3"), 1), ElementsAre(9, 9, 9));
}

TEST_F(ImageFolderTest, DamageIsFoundWhenTheFolderIsOpened) {
  write("a/1.png", encode_png(picture(8, 8, 1, 100)));
  for (const std::string& good : {encode_png(picture(30, 30, 3, 100)), encode_jpeg(picture(30, 30, 3, 100), 90)})
    for (std::size_t size = 0; size < good.size(); ++size) {
      write("a/2.png", good.substr(0, size));
      EXPECT_THAT(refusal("height = 8\nwidth = 8\nchannels = 1"), testing::AllOf(testing::StartsWith("data_loss"), HasSubstr("2.png")))
          << size;
    }
}

TEST_F(ImageFolderTest, AMissingEndIsShownWithItsPlace) {
  const std::string good = encode_jpeg(picture(8, 8, 1, 100), 90);
  write("a/1.jpg", good.substr(0, good.size() - 2));
  EXPECT_THAT(refusal(),
              HasSubstr(fmt::format("1.jpg: the image ends too early: at byte {} expected its end mark ff d9, found", good.size() - 4)));
}

TEST_F(ImageFolderTest, ZerosAfterTheEndAreHarmless) {
  write("a/1.jpg", encode_jpeg(picture(8, 8, 1, 100), 90) + std::string(5000, '\0'));
  EXPECT_EQ(open()->size(), 1);
}

// As cameras and messengers do it. An end mark of a thumbnail inside does not count.
TEST_F(ImageFolderTest, BytesAfterTheEndAreIgnored) {
  const std::string jpeg = encode_jpeg(picture(8, 8, 1, 100), 90), png = encode_png(picture(8, 8, 1, 100));
  const std::string note = "SEFT \xff\xfe\x01\x00 a note of the camera";
  write("a/1.jpg", jpeg);
  write("a/2.jpg", jpeg + note);
  write("a/3.jpg", jpeg + jpeg);
  write("a/4.png", png + note);
  const auto source = open("verify = false");
  EXPECT_EQ(source->size(), 4);
  EXPECT_EQ(values(*source, 0), values(*source, 1));
  EXPECT_EQ(values(*source, 0), values(*source, 2));
  write("a/4.png", png.substr(0, png.size() - 1) + note);
  EXPECT_THAT(refusal("verify = false"), HasSubstr("4.png: the image ends too early"));
  write("a/4.png", png);
  const std::string thumbnail = std::string("\xff\xe2", 2) + '\0' + static_cast<char>(6) + "\xff\xd8\xff\xd9";
  write("a/5.jpg", jpeg.substr(0, 2) + thumbnail + jpeg.substr(2, jpeg.size() - 4) + note);
  EXPECT_THAT(refusal("verify = false"), HasSubstr("5.jpg: the image ends too early"));
}

// The sensor saw 2 x 4 pixels, the camera was held upright.
TEST_F(ImageFolderTest, PhotographsAreTurnedUpright) {
  write("a/1.png", with_exif(encode_png({2, 4, 1, {1, 2, 3, 4, 5, 6, 7, 8}}), exif_tiff(6)));
  EXPECT_EQ(open()->format().shape, (Shape{1, 4, 2}));
  EXPECT_THAT(values(*open(), 0), ElementsAre(5, 1, 6, 2, 7, 3, 8, 4));
  EXPECT_THAT(values(*open("orientation = false"), 0), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  write("a/2.png", encode_png({4, 2, 1, {1, 2, 3, 4, 5, 6, 7, 8}}));
  EXPECT_EQ(open()->size(), 2);
  EXPECT_THAT(refusal("orientation = false"), testing::AllOf(HasSubstr("2.png: is 1x4x2"), HasSubstr("1.png is 1x2x4")));
}

TEST_F(ImageFolderTest, PredictionsTreatAPictureAlike) {
  write("a/1.jpg", with_exif(encode_jpeg(picture(12, 20, 3, 200), 95), exif_tiff(6)));
  for (const std::string_view options : {"", "fit = 'crop'", "orientation = false"}) {
    const ReaderRequest request = request_of("image_folder", {root_}, fmt::format("height = 6\nwidth = 4\n{}", options));
    const ReaderEntry& reader = find_reader("image_folder");
    const auto trained = reader.open(request);
    const auto predicted = image_files({root_ / "a/1.jpg"}, trained->format().shape, reader.image_fit(request.options));
    EXPECT_EQ(values(*predicted, 0), values(*trained, 0)) << options;
  }
}

// The middle of a picture, where neither header nor end mark show it.
TEST_F(ImageFolderTest, ADamagedMiddleIsFoundBeforeTheTraining) {
  std::string bad = encode_png(picture(30, 30, 3, 100));
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 0x10);
  write("a/1.png", encode_png(picture(30, 30, 3, 100)));
  write("a/2.png", bad);
  EXPECT_THAT(refusal(), testing::AllOf(testing::StartsWith("data_loss: "), HasSubstr("2.png: damaged PNG"), HasSubstr("1 of 2 pictures"),
                                        HasSubstr("on_damage = \"skip\"")));
  const auto unverified = open("verify = false");
  EXPECT_THAT(thrown_error([&] { values(*unverified, 1); }), HasSubstr("verify = true finds such pictures before"));
}

TEST_F(ImageFolderTest, DamagedPicturesAreSkippedAndNamed) {
  const std::string good = encode_png(picture(8, 8, 1, 100));
  for (const char* name : {"a/1.png", "a/3.png", "b/5.png"}) write(name, good);
  write("a/0.png", good.substr(0, 40));  // the first one decides nothing
  write("a/2.png", "GIF89a");
  write("b/4.png", "");
  const auto source = open("on_damage = 'skip'");
  EXPECT_THAT((std::vector{source->sample_name(0), source->sample_name(1), source->sample_name(2)}),
              ElementsAre("a/1.png", "a/3.png", "b/5.png"));
  EXPECT_THAT(all_labels(*source), ElementsAre(0, 0, 1));
  EXPECT_THAT(source->skipped(), ElementsAre(HasSubstr("a/0.png: "), HasSubstr("a/2.png: "), HasSubstr("b/4.png: ")));
  ASSERT_EQ(source->warnings().size(), 1U);
  EXPECT_THAT(source->warnings()[0], HasSubstr("left out 3 damaged of 6 pictures: "));
  write("b/5.png", "");
  EXPECT_THAT(refusal("on_damage = 'skip'"), HasSubstr("every picture of the class 'b' is damaged"));
}

// A colour profile of 50000 bytes before the frame: the first bytes of the file do not give its size.
TEST_F(ImageFolderTest, ALongHeaderIsRead) {
  const std::string good = encode_jpeg(picture(8, 8, 1, 100), 90);
  const std::string profile = std::string("\xff\xe2\xc3\x50", 4) + std::string(49998, 'p');
  write("a/1.jpg", good.substr(0, 2) + profile + good.substr(2));
  EXPECT_EQ(open()->format().shape.to_string(), "1x8x8");
}

TEST_F(ImageFolderTest, WhatCannotBeAFolderOfImagesIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("no sub-folders"));
  fs::create_directories(root_ / "empty");
  EXPECT_THAT(refusal(), HasSubstr("the class folder 'empty' has no"));
  EXPECT_THAT(refusal("height = 8"), HasSubstr("give both or neither"));
  EXPECT_THAT(refusal("channels = 2"), HasSubstr("channels is 2"));
  EXPECT_THAT(thrown_error([&] { open("", {root_ / "none"}); }), HasSubstr("there is no such folder"));
}

TEST_F(ImageFolderTest, AFileThatChangedIsNamed) {
  write("a/1.png", encode_png(picture(2, 2, 1, 1)));
  const auto source = open();
  write("a/1.png", encode_png(picture(3, 2, 1, 1)));
  EXPECT_THAT(thrown_error([&] { values(*source, 0); }), testing::AllOf(HasSubstr("1.png: is 1x3x2"), HasSubstr("is 1x2x2")));
}

TEST_F(ImageFolderTest, ManyThreadsReadTheSame) {
  for (std::uint8_t i = 0; i < 20; ++i)
    write(fmt::format("a/{}.{}", i, i % 2 == 0 ? "jpg" : "png"),
          i % 2 == 0 ? encode_jpeg(picture(16, 16, 3, i), 90) : encode_png(picture(16, 16, 3, i)));
  const auto source = open();
  std::vector<std::vector<int>> alone, together(20);
  for (std::int64_t i = 0; i < 20; ++i) alone.push_back(values(*source, i));
  {
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (std::int64_t i = t; i < 20; i += 4) together[static_cast<std::size_t>(i)] = values(*source, i);
      });
  }
  EXPECT_EQ(alone, together);
}

}  // namespace
}  // namespace trireme::data
