// SPDX-License-Identifier: Apache-2.0
// Tests of written TFRecord shards: what the reader finds in them is what was written.
#include "trireme/data/records/record_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/source/memory_source.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MemorySource random_images(const Shape& shape, std::int64_t count) {
  MemorySamples samples{.format = {.shape = shape, .classes = 4, .class_names = {"north", "east", "south", "west"}}};
  RandomStream random(3);
  samples.values.resize(static_cast<std::size_t>(count) * samples.format.sample_bytes());
  for (std::byte& b : samples.values) b = static_cast<std::byte>(random.below(256));
  for (std::int64_t i = 0; i < count; ++i) samples.labels.push_back(static_cast<std::int32_t>(random.below(4)));
  return MemorySource(std::move(samples));
}

MemorySource random_rows(const Shape& shape, std::int64_t count) {
  MemorySamples samples{.format = {.shape = shape, .element = Element::f32, .targets = 2}};
  RandomStream random(4);
  std::vector<float> values(static_cast<std::size_t>(count * shape.count()));
  for (float& v : values) v = static_cast<float>(random.normal());
  samples.values.resize(values.size() * sizeof(float));
  std::memcpy(samples.values.data(), values.data(), samples.values.size());
  for (std::int64_t i = 0; i < 2 * count; ++i) samples.targets.push_back(static_cast<float>(random.normal()));
  return MemorySource(std::move(samples));
}

void expect_same(const Source& found, const Source& written) {
  EXPECT_EQ(found.format().shape, written.format().shape);
  EXPECT_EQ(found.format().element, written.format().element);
  EXPECT_EQ(found.format().classes, written.format().classes);
  EXPECT_EQ(found.format().targets, written.format().targets);
  EXPECT_EQ(found.format().class_names, written.format().class_names);
  EXPECT_EQ(all_labels(found), all_labels(written));
  EXPECT_EQ(all_bytes(found), all_bytes(written));
  for (std::int64_t i = 0; i < written.size(); ++i) EXPECT_TRUE(std::ranges::equal(found.target(i), written.target(i)));
}

TEST(RecordWriter, ShardsInOrderAreTheSetInOrder) {
  const ScratchFolder folder;
  const MemorySource source = random_images({3, 4, 5}, 11);
  const auto shards = write_records(source, folder.path() / "new", "set", {.shards = 3});
  EXPECT_THAT(shards, ElementsAre(folder.path() / "new" / "set-00000-of-00003", folder.path() / "new" / "set-00001-of-00003",
                                  folder.path() / "new" / "set-00002-of-00003"));
  const auto found = open_with("tfrecord", shards);
  expect_same(*found, source);
  EXPECT_THAT(found->file_starts(), ElementsAre(0, 4, 8));  // sample i is in shard 3 i / 11
  EXPECT_EQ(read_file(folder.path() / "new" / "set.classes.txt"), "north\neast\nsouth\nwest\n");
}

TEST(RecordWriter, EveryShapeEncodingAndCompressionComesBack) {
  const ScratchFolder folder;
  for (const std::string compression : {"none", "gzip", "zlib"}) {
    for (const Shape& shape : {Shape{3, 4, 5}, Shape{1, 4, 5}, Shape{2, 3}, Shape{7}}) {
      const MemorySource images = random_images(shape, 5), rows = random_rows(shape, 5);
      const std::string name = compression + shape.to_string();
      expect_same(*open_with("tfrecord", write_records(images, folder.path(), "i" + name, {.shards = 2, .compression = compression})),
                  images);
      expect_same(*open_with("tfrecord", write_records(rows, folder.path(), "r" + name, {.shards = 2, .compression = compression})), rows);
    }
    for (const Shape& shape : {Shape{3, 4, 5}, Shape{1, 28, 28}}) {
      const MemorySource images = random_images(shape, 5);
      const std::string name = "png" + compression + shape.to_string();
      expect_same(*open_with("tfrecord", write_records(images, folder.path(), name, {.images = "png", .compression = compression})),
                  images);
    }
  }
}

TEST(RecordWriter, TheSameSetGivesTheSameBytes) {
  const ScratchFolder folder;
  const MemorySource source = random_images({3, 4, 5}, 6);
  const auto first = write_records(source, folder.path(), "first", {}), second = write_records(source, folder.path(), "second", {});
  EXPECT_EQ(read_file(first[0]), read_file(second[0]));
}

TEST(RecordWriter, AFailureLeavesNoFileBehind) {
  class Broken final : public Source {
   public:
    const SampleFormat& format() const override { return format_; }
    std::int64_t size() const override { return 4; }
    std::int32_t label(std::int64_t) const override { return 0; }
    void read(std::int64_t index, std::span<std::byte>) const override {
      if (index == 3) throw Error{data_loss, "sample 3 is damaged"};
    }

   private:
    SampleFormat format_{.shape = {2}, .classes = 1};
  };
  const ScratchFolder folder;
  EXPECT_EQ(thrown_error([&] { write_records(Broken(), folder.path(), "set", {.shards = 4}); }), "data_loss: sample 3 is damaged");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RecordWriter, WhatCannotBeWrittenIsSaid) {
  const ScratchFolder folder;
  const auto failure = [&](const Source& source, const RecordWriterOptions& options) {
    return thrown_error([&] { write_records(source, folder.path(), "set", options); });
  };
  EXPECT_THAT(failure(random_images({2}, 3), {.shards = 4}), HasSubstr("3 samples can't be written as 4 shards"));
  EXPECT_THAT(failure(random_images({2, 4, 4}, 3), {.images = "png"}), HasSubstr("samples 2x4x4 of bytes can't be written as PNG"));
  EXPECT_THAT(failure(random_rows({1, 4, 4}, 3), {.images = "png"}), HasSubstr("samples 1x4x4 of floats can't be written as PNG"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RecordWriter, NamesOfAnOlderSetAreNotKept) {
  const ScratchFolder folder;
  write_records(random_images({2}, 3), folder.path(), "set", {});
  const auto shards = write_records(random_rows({2}, 3), folder.path(), "set", {});
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "set.classes.txt"));
  EXPECT_TRUE(open_with("tfrecord", shards)->format().class_names.empty());
}

}  // namespace
}  // namespace trireme::data
