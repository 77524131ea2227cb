// SPDX-License-Identifier: Apache-2.0
// Tests of TFRecord files of tf.train.Examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/crc32c.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/formats/output_file.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/testing/exif.h"
#include "trireme/data/testing/reader.h"
#include "trireme/wire/example.pb.h"

namespace trireme::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

// Two Examples, written by hand after the format's description, with CRCs of another implementation: image is the bytes 1 to 6,
// label 3; image is 10 to 60, label 0.
constexpr std::string_view kTwoRecords(
    "\x27\x00\x00\x00\x00\x00\x00\x00\xbb\xe1\xb1\x46\x0a\x25\x0a\x13\x0a\x05\x69\x6d\x61\x67\x65\x12\x0a\x0a\x08\x0a\x06\x01"
    "\x02\x03\x04\x05\x06\x0a\x0e\x0a\x05\x6c\x61\x62\x65\x6c\x12\x05\x1a\x03\x0a\x01\x03\x8f\x3e\x82\x25\x27\x00\x00\x00\x00"
    "\x00\x00\x00\xbb\xe1\xb1\x46\x0a\x25\x0a\x13\x0a\x05\x69\x6d\x61\x67\x65\x12\x0a\x0a\x08\x0a\x06\x0a\x14\x1e\x28\x32\x3c"
    "\x0a\x0e\x0a\x05\x6c\x61\x62\x65\x6c\x12\x05\x1a\x03\x0a\x01\x00\x93\xdc\x8f\xb5",
    110);
constexpr std::string_view kShape = "height = 1\nwidth = 2\nchannels = 3\n";
constexpr std::size_t kFirstImage = 29, kSecondRecord = 55, kSecondImage = 84;

class Tfrecord : public testing::Test {
 protected:
  std::unique_ptr<Source> open(std::string_view content, const std::string& options = std::string(kShape)) const {
    return open_with("tfrecord", {folder_.write("r", content)}, options);
  }
  std::string failure(std::string_view content, const std::string& options = std::string(kShape)) const {
    return thrown_error([&] { open(content, options); });
  }
  std::string compressed(std::string_view content, Compression compression) const {
    OutputFile file(folder_.path() / "compressed", compression);
    file.write(content);
    file.close();
    file.publish();
    return read_file(folder_.path() / "compressed");
  }

  ScratchFolder folder_;
};

std::string damaged(std::size_t at) {
  std::string bytes(kTwoRecords);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  return bytes;
}

wire::Feature& feature(wire::Example& example, const std::string& name) { return (*example.mutable_features()->mutable_feature())[name]; }

std::string record_of(const wire::Example& example) { return framed_record(example.SerializeAsString()); }

wire::Example floats_with_target(const std::vector<float>& values, float target) {
  wire::Example example;
  for (const float value : values) feature(example, "image").mutable_float_list()->add_value(value);
  feature(example, "target").mutable_float_list()->add_value(target);
  return example;
}

TEST_F(Tfrecord, RawBytesAreInterleavedAndBecomePlanes) {
  const auto source = open(kTwoRecords);
  EXPECT_EQ(source->format().shape, (Shape{3, 1, 2}));
  EXPECT_EQ(source->format().classes, 4);
  EXPECT_THAT(all_labels(*source), ElementsAre(3, 0));
  EXPECT_THAT(all_u8(*source), ElementsAre(1, 4, 2, 5, 3, 6, 10, 40, 20, 50, 30, 60));
}

TEST_F(Tfrecord, CompressedFilesAreRecognised) {
  const std::vector<int> expected = all_u8(*open(kTwoRecords));
  for (const auto compression : {Compression::gzip, Compression::zlib}) {
    const std::string bytes = compressed(kTwoRecords, compression);
    EXPECT_EQ(all_u8(*open(bytes)), expected);
    EXPECT_EQ(all_u8(*open(bytes, fmt::format("{}compression = '{}'", kShape, name_of(compression)))), expected);
    EXPECT_THAT(failure(bytes, std::string(kShape) + "compression = 'none'"), HasSubstr("expected the CRC"));
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_THAT(failure(bytes.substr(0, length)), HasSubstr("r: ")) << name_of(compression) << " cut to " << length;
  }
}

TEST_F(Tfrecord, APlainFileThatBeginsLikeZlibIsPlain) {
  wire::Example example;
  feature(example, "image").mutable_bytes_list()->add_value(std::string(0x5e78 - 35, 'x'));
  feature(example, "label").mutable_int64_list()->add_value(1);
  std::string record = record_of(example);
  // The length is 0x5e78 or near it; make it exact, so that the file begins with the two bytes of a zlib header.
  const std::size_t short_by = 0x5e78 + kRecordHeader + kRecordFooter - record.size();
  feature(example, "image").mutable_bytes_list()->set_value(0, std::string(0x5e78 - 35 + short_by, 'x'));
  record = record_of(example);
  ASSERT_TRUE(record.starts_with("\x78\x5e"));
  EXPECT_EQ(open(record, fmt::format("width = {}", 0x5e78 - 35 + short_by))->label(0), 1);
}

TEST_F(Tfrecord, EveryFlippedBitIsFound) {
  for (std::size_t at = 0; at < kTwoRecords.size(); ++at) EXPECT_THAT(failure(damaged(at)), HasSubstr("data_loss: ")) << at;
}

TEST_F(Tfrecord, ADamagedRecordIsNamedOrSkipped) {
  EXPECT_THAT(
      failure(damaged(kSecondImage)),
      EndsWith("r: record at byte 67: expected 39 bytes of a tf.train.Example, found bytes with another CRC; on_damage = \"skip\" leaves "
               "such records out"));
  const auto rest = open(damaged(kFirstImage), std::string(kShape) + "on_damage = 'skip'");
  EXPECT_THAT(all_labels(*rest), ElementsAre(0));
  EXPECT_THAT(rest->skipped(), ElementsAre(HasSubstr("r: record at byte 12: expected 39 bytes")));
  EXPECT_THAT(rest->warnings(), ElementsAre(HasSubstr("tfrecord: left out 1 damaged of 2 records: ")));
  EXPECT_THAT(all_u8(*rest), ElementsAre(10, 40, 20, 50, 30, 60));
  EXPECT_THAT(failure(damaged(kFirstImage).substr(0, kSecondRecord), std::string(kShape) + "on_damage = 'skip'"),
              EndsWith("r: expected whole records, found 1 damaged ones only"));
  EXPECT_EQ(open(std::string(kTwoRecords) + framed_record("\xff\xff no Example"), std::string(kShape) + "on_damage = 'skip'")->size(), 2);
}

TEST_F(Tfrecord, ADamagedLengthIsNeverBelieved) {
  EXPECT_THAT(failure(damaged(kSecondRecord), std::string(kShape) + "on_damage = 'skip'"), HasSubstr("r: expected the CRC "))
      << "it is unknown where the next record begins";
  std::string huge("\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
  const std::uint32_t crc = masked_crc32c(huge);
  huge.append(reinterpret_cast<const char*>(&crc), sizeof crc).append("content and CRC");
  EXPECT_THAT(failure(huge), EndsWith("r: expected a record of 9223372036854775807 bytes at byte 12, found 11; the file is cut off"));
}

TEST_F(Tfrecord, WithoutVerificationDamageShowsWhenTheSampleIsRead) {
  const auto source = open(damaged(kSecondImage), std::string(kShape) + "verify = false");
  std::vector<std::byte> sample(6);
  source->read(0, sample);
  EXPECT_THAT(thrown_error([&] { source->read(1, sample); }),
              EndsWith("r: record at byte 67: expected 39 bytes of an Example, found them damaged"));
}

TEST_F(Tfrecord, ACutBetweenRecordsShowsByTheirNumber) {
  EXPECT_EQ(open(kTwoRecords.substr(0, kSecondRecord))->size(), 1);
  EXPECT_THAT(failure(kTwoRecords.substr(0, kSecondRecord), std::string(kShape) + "records = 2"),
              HasSubstr("data_loss: expected 2 records, found 1: "));
}

TEST_F(Tfrecord, FloatsAndTargetsMakeARegression) {
  const std::string records = record_of(floats_with_target({1.5F, 2, 3}, 0.25F)) + record_of(floats_with_target({4, 5, 6}, -1));
  const auto source = open(records, "");
  EXPECT_EQ(source->format().shape, Shape{3});
  EXPECT_EQ(source->format().element, Element::f32);
  EXPECT_EQ(source->format().classes, 0);
  EXPECT_THAT(source->target(1), ElementsAre(-1.0F));
  EXPECT_THAT(all_f32(*source), ElementsAre(1.5F, 2, 3, 4, 5, 6));
  EXPECT_THAT(failure(records + record_of(floats_with_target({7, 8}, 0)), ""),
              HasSubstr("expected an image of 3 (channels first), found 2 values"));
}

TEST_F(Tfrecord, WhatAnExampleLacksIsNamed) {
  EXPECT_THAT(failure(kTwoRecords, ""), HasSubstr("record at byte 12: a raw image of 6 bytes; set height, width and channels"));
  EXPECT_THAT(failure(kTwoRecords, "width = 7"), HasSubstr("expected an image of 7 (channels first), found 6 values"));
  EXPECT_THAT(
      failure(kTwoRecords, "image = 'picture'"),
      EndsWith("in the feature 'picture', found no such feature; write data.image = \"image\"; the record's features: image (bytes, 1), "
               "label (int64, 1)"));
  EXPECT_THAT(failure(kTwoRecords, "image = 'label'"), HasSubstr("in the feature 'label', found 1 integer"));
  EXPECT_THAT(
      failure(kTwoRecords, "label = 'class'\nwidth = 6"),
      EndsWith("expected a label in the feature 'class' or floats in 'target', found neither; write data.label = \"label\"; the record's "
               "features: image (bytes, 1), label (int64, 1)"));
  EXPECT_THAT(failure(kTwoRecords, "classes = 3\nwidth = 6"), HasSubstr("expected a label from 0 to 2, found 3"));
}

TEST_F(Tfrecord, ShapesOutOfRangeAreRefused) {
  wire::Example example;
  feature(example, "image").mutable_bytes_list()->add_value("abc");
  feature(example, "label").mutable_int64_list()->add_value(0);
  for (const std::int64_t extent : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{1} << 62}) {
    feature(example, "width").mutable_int64_list()->Clear();
    feature(example, "width").mutable_int64_list()->add_value(extent);
    EXPECT_THAT(failure(record_of(example), ""), HasSubstr(fmt::format("expected a width from 1 to 1048576, found {}", extent)));
  }
}

wire::Example png_example(std::int64_t height, std::int64_t width) {
  wire::Example example;
  const Image grey{
      .height = height, .width = width, .channels = 1, .pixels = std::vector<std::uint8_t>(static_cast<std::size_t>(height * width), 7)};
  feature(example, "image").mutable_bytes_list()->add_value(encode_png(grey));
  feature(example, "label").mutable_int64_list()->add_value(1);
  return example;
}

TEST_F(Tfrecord, FaultsInsideAnEncodedImageShowWhenItIsRead) {
  const wire::Example good = png_example(2, 3);
  wire::Example cut = good;
  std::string& png = *feature(cut, "image").mutable_bytes_list()->mutable_value(0);
  png.resize(png.size() - 20);
  const auto source = open(record_of(good) + record_of(cut), "");
  EXPECT_EQ(source->format().shape, (Shape{1, 2, 3}));
  std::vector<std::byte> sample(6);
  source->read(0, sample);
  EXPECT_THAT(sample, testing::Each(std::byte{7}));
  EXPECT_THAT(thrown_error([&] { source->read(1, sample); }), HasSubstr("r: record at byte "));
}

wire::Example example_of(const std::string& image, std::int64_t label = 0) {
  wire::Example example;
  feature(example, "image").mutable_bytes_list()->add_value(image);
  feature(example, "label").mutable_int64_list()->add_value(label);
  return example;
}

TEST_F(Tfrecord, PicturesOfDifferentSizesAreResizedOnRequest) {
  const std::string records = record_of(png_example(2, 3)) + record_of(png_example(3, 3)) +
                              record_of(example_of(encode_jpeg({4, 4, 3, std::vector<std::uint8_t>(48, 7)}, 100)));
  EXPECT_THAT(failure(records, ""), AllOf(HasSubstr("expected an image of 1x2x3 (channels first) as in the first record, found 1x3x3"),
                                          HasSubstr("write data.height = 2, data.width = 3 and data.channels = 1")));
  const auto source = open(records, "height = 4\nwidth = 2\nchannels = 3");
  EXPECT_EQ(source->format().shape, (Shape{3, 4, 2}));
  EXPECT_THAT(all_u8(*source), testing::Each(7));
  EXPECT_THAT(failure(records, "height = 4"), HasSubstr("tfrecord: height is 4 and width is 0; give both or neither"));
  EXPECT_THAT(failure(records, "channels = 4"), HasSubstr("channels is 4; 1 (grey) and 3 (colour)"));
}

TEST_F(Tfrecord, PicturesAreTreatedAsInFolders) {
  const std::string png = with_exif(encode_png({2, 4, 1, {1, 2, 3, 4, 5, 6, 7, 8}}), exif_tiff(6));
  EXPECT_THAT(all_u8(*open(record_of(example_of(png)), "")), ElementsAre(5, 1, 6, 2, 7, 3, 8, 4));
  EXPECT_THAT(all_u8(*open(record_of(example_of(png)), "orientation = false")), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(all_u8(*open(record_of(example_of(png)), "orientation = false\nheight = 2\nwidth = 2\nfit = 'crop'")),
              ElementsAre(2, 3, 6, 7));
}

TEST_F(Tfrecord, RawPicturesOfDifferentSizesAreResizedToo) {
  wire::Example small = example_of("abcd"), wide = example_of(std::string(8, 'e'));
  for (auto [example, width] : {std::pair{&small, 2}, {&wide, 4}}) {
    feature(*example, "height").mutable_int64_list()->add_value(2);
    feature(*example, "width").mutable_int64_list()->add_value(width);
  }
  EXPECT_THAT(failure(record_of(small) + record_of(wide), ""),
              HasSubstr("as in the first record, found 1x2x4; all samples must have one size"));
  EXPECT_THAT(all_u8(*open(record_of(small) + record_of(wide), "height = 2\nwidth = 2")),
              ElementsAre('a', 'b', 'c', 'd', 'e', 'e', 'e', 'e'));
}

// A JPEG of as many bytes as height x width is no raw image.
TEST_F(Tfrecord, AJpegOfTheSizeOfARawImageIsAJpeg) {
  const std::string jpeg = encode_jpeg({3, 5, 1, std::vector<std::uint8_t>(15, 9)}, 100);
  const auto source = open(record_of(example_of(jpeg)), fmt::format("height = 1\nwidth = {}", jpeg.size()));
  EXPECT_THAT(all_u8(*source), testing::Each(9));
}

wire::Example labelled(const std::string& text) {
  wire::Example example = example_of("abc");
  feature(example, "label").mutable_bytes_list()->add_value(text);
  return example;
}

TEST_F(Tfrecord, LabelsThatAreTextsBecomeClasses) {
  const std::string records = record_of(labelled("dog")) + record_of(labelled("cat")) + record_of(labelled("dog"));
  const auto source = open(records, "width = 3");
  EXPECT_THAT(source->format().class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(all_labels(*source), ElementsAre(1, 0, 1));
  EXPECT_THAT(all_labels(*open(records, "width = 3\nclass_names = ['dog', 'cat']")), ElementsAre(0, 1, 0));
  EXPECT_THAT(failure(records, "width = 3\nclass_names = ['dog', 'cow']"), HasSubstr("out of class_names (dog, cow), found 'cat'"));
  EXPECT_THAT(failure(records + record_of(example_of("abc")), "width = 3"),
              HasSubstr("expected a text in the feature 'label' as in the first"));
  EXPECT_THAT(failure(record_of(labelled(std::string("\0\1", 2))), "width = 3"), HasSubstr("found 2 bytes that are no text"));
}

TEST_F(Tfrecord, ALabelThatIsAFloatIsNamed) {
  wire::Example example = example_of("abc");
  feature(example, "label").mutable_float_list()->add_value(2);
  const std::string record = record_of(example);
  EXPECT_THAT(failure(record, "width = 3"),
              AllOf(HasSubstr("r: record at byte 12: "), HasSubstr("in the feature 'label', found 1 float (2)"),
                    HasSubstr("write data.target = \"label\""), HasSubstr("image (bytes, 1), label (float, 1)")));
  EXPECT_THAT(open(record, "width = 3\ntarget = 'label'")->target(0), ElementsAre(2));
  EXPECT_THAT(all_labels(*open(record, "width = 3\nclasses = 3")), ElementsAre(2));
}

// As TensorFlow's own data sets name them.
TEST_F(Tfrecord, TheMessageNamesWhatIsProbablyMeant) {
  wire::Example example;
  feature(example, "image/encoded").mutable_bytes_list()->add_value(encode_png({1, 1, 1, {1}}));
  feature(example, "image/class/label").mutable_int64_list()->add_value(5);
  feature(example, "image/filename").mutable_bytes_list()->add_value("1.png");
  EXPECT_THAT(failure(record_of(example), ""), HasSubstr("write data.image = \"image/encoded\"; the record's features: image/class/label "
                                                         "(int64, 1), image/encoded (bytes, 1), image/filename (bytes, 1)"));
  EXPECT_THAT(failure(record_of(example), "image = 'image/encoded'"), HasSubstr("write data.label = \"image/class/label\""));
}

TEST_F(Tfrecord, FoldersHaveTheirRecordFiles) {
  std::filesystem::create_directories(folder_.path() / "set/b");
  folder_.write("set/b/part-1.tfrecord", record_of(example_of("abc", 1)));
  folder_.write("set/a-00000-of-00001", record_of(example_of("abc", 2)));
  folder_.write("set/other", record_of(example_of("abc", 3)));
  folder_.write("set/a.classes.txt", "w\nx\ny\nz\n");
  const auto source = open_with("tfrecord", {folder_.path() / "set"}, "width = 3");
  EXPECT_THAT(all_labels(*source), ElementsAre(2, 1, 3));
  EXPECT_THAT(source->format().class_names, ElementsAre("w", "x", "y", "z"));
  EXPECT_TRUE(source->warnings().empty());
  folder_.write("set/notes", "text");
  EXPECT_THAT(open_with("tfrecord", {folder_.path() / "set"}, "width = 3")->warnings(), ElementsAre(HasSubstr("passed over 1 of")));
  folder_.write("set/b/part-1.tfrecord", "damaged, of some length");
  EXPECT_THAT(thrown_error([&] { open_with("tfrecord", {folder_.path() / "set"}, "width = 3"); }), HasSubstr("part-1.tfrecord: expected"));
  std::filesystem::create_directories(folder_.path() / "none");
  EXPECT_THAT(thrown_error([&] { open_with("tfrecord", {folder_.path() / "none"}); }), HasSubstr("none: the folder has no TFRecord file"));
}

TEST_F(Tfrecord, ARawImageMayBeginLikeAJpeg) {
  wire::Example example;
  feature(example, "image").mutable_bytes_list()->add_value("\xff\xd8\xff");
  feature(example, "label").mutable_int64_list()->add_value(0);
  EXPECT_THAT(all_u8(*open(record_of(example), "width = 3")), ElementsAre(0xff, 0xd8, 0xff));
  EXPECT_THAT(failure(record_of(example), "width = 3\nencoding = 'encoded'"), HasSubstr("r: record at byte 12"));
}

}  // namespace
}  // namespace trireme::data
