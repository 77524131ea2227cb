// SPDX-License-Identifier: Apache-2.0
// Conformance of every writer: what it writes, the reader of its name reads back; what it has no room for, it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/formats/writer_entry.h"
#include "trireme/data/source/memory_source.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::HasSubstr;

MemorySource samples(const Shape& shape, std::int64_t classes, std::int64_t count, Element element = Element::u8) {
  MemorySamples out{.format = {.shape = shape, .element = element, .classes = classes}};
  const std::size_t bytes = static_cast<std::size_t>(count) * out.format.sample_bytes();
  for (std::size_t i = 0; i < bytes; ++i)
    out.values.push_back(element == Element::u8 ? static_cast<std::byte>(i * 7 + i / 251) : std::byte{0});
  // Ascending, so that a folder's order by class is the set's.
  for (std::int64_t i = 0; i < count; ++i) out.labels.push_back(static_cast<std::int32_t>(i * classes / count));
  return MemorySource(std::move(out));
}

struct Conformance : testing::TestWithParam<std::string> {
  static const WriterEntry& entry() { return find_writer(GetParam()); }
  ScratchFolder folder;
};

TEST_P(Conformance, TheReaderReadsItBack) {
  const MemorySource source = samples({3, 32, 32}, 10, 23);
  for (const std::string_view compression : entry().compressions) {
    for (const std::string_view encoding : entry().encodings) {
      for (const Part part : {Part::train, Part::test}) {
        const auto place = folder.path() / compression / encoding / (part == Part::train ? "a" : "b");
        std::filesystem::create_directories(place);
        const auto files = write_set(entry(), source,
                                     {.folder = place,
                                      .part = part,
                                      .shards = entry().sharded ? 4 : 0,
                                      .compression = std::string(compression),
                                      .encoding = std::string(encoding)});
        const auto back = open_with(entry().name, files);
        EXPECT_EQ(back->format().shape, source.format().shape);
        EXPECT_EQ(all_labels(*back), all_labels(source));
        EXPECT_EQ(all_bytes(*back), all_bytes(source)) << compression << " " << encoding;
        EXPECT_EQ(back->file_starts().size(), entry().sharded ? 4U : 1U);
      }
    }
  }
}

TEST_P(Conformance, WrongRequestsAreRefused) {
  const MemorySource source = samples({3, 32, 32}, 10, 23);
  EXPECT_THAT(thrown_error([&] { write_set(entry(), source, {.folder = folder.path(), .compression = "lzma"}); }),
              HasSubstr("invalid_argument: " + GetParam() + " cannot be written with the compression 'lzma'; possible: none"));
  EXPECT_THAT(thrown_error([&] { write_set(entry(), source, {.folder = folder.path(), .encoding = "gif"}); }), HasSubstr("encoding 'gif'"));
  if (!entry().sharded) {
    EXPECT_THAT(thrown_error([&] { write_set(entry(), source, {.folder = folder.path(), .shards = 2}); }), HasSubstr("has no shards"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_P(Conformance, FloatsAreReadBackOrRefused) {
  const MemorySource source = samples({1, 4, 4}, 3, 5, Element::f32);
  const std::string fault = thrown_error([&] {
    const auto back = open_with(entry().name, write_set(entry(), source, {.folder = folder.path()}));
    EXPECT_EQ(all_bytes(*back), all_bytes(source));
  });
  EXPECT_THAT(fault, testing::AnyOf("no error", HasSubstr("invalid_argument: samples 1x4x4 of floats cannot be written as ")));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const WriterEntry& entry : writers::catalog()) all.emplace_back(entry.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Writers, Conformance, testing::ValuesIn(names()), [](const auto& writer) { return writer.param; });

TEST(IdxWriter, MakesTheBytesOfMnist) {
  const ScratchFolder folder;
  const auto files = write_set(find_writer("idx"), samples({1, 2, 3}, 2, 4), {.folder = folder.path(), .part = Part::test});
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].filename(), "t10k-images-idx3-ubyte");
  EXPECT_EQ(files[1].filename(), "t10k-labels-idx1-ubyte");
  EXPECT_EQ(read_file(files[0]).substr(0, 16), std::string("\0\0\x08\x03\0\0\0\x04\0\0\0\x02\0\0\0\x03", 16));
  EXPECT_EQ(read_file(files[1]), std::string("\0\0\x08\x01\0\0\0\x04\0\0\1\1", 12));
}

TEST(IdxWriter, VectorsKeepTheirRank) {
  const ScratchFolder folder;
  const MemorySource source = samples({5}, 2, 4);
  const auto back = open_with("idx", write_set(find_writer("idx"), source, {.folder = folder.path()}));
  EXPECT_EQ(back->format().shape, Shape{5});
  EXPECT_EQ(all_bytes(*back), all_bytes(source));
  EXPECT_THAT(thrown_error([&] { write_set(find_writer("idx"), samples({5}, 300, 4), {.folder = folder.path()}); }),
              HasSubstr("labels from 0 to 255, this set has 300 classes"));
}

TEST(ImageFolderWriter, ClassNamesBecomeFolders) {
  const ScratchFolder folder;
  MemorySamples out{.format = {.shape = {1, 2, 2}, .classes = 3, .class_names = {"T-shirt/top", "..", "bag"}},
                    .values = std::vector<std::byte>(12),
                    .labels = {0, 1, 2}};
  write_set(find_writer("image_folder"), MemorySource(out), {.folder = folder.path()});
  for (const char* name : {"T-shirt_top/0.png", "_../1.png", "bag/2.png"})
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "train" / name)) << name;
}

}  // namespace
}  // namespace trireme::data
