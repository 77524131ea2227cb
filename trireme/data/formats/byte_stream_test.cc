// SPDX-License-Identifier: Apache-2.0
// Tests of plain and compressed streams, whole and damaged.
#include "trireme/data/formats/byte_stream.h"

#include <gtest/gtest.h>

#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/formats/output_file.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

// Made by gzip of "hello" and by xz of "a,b,c\n1,2,x\n3,4,y\n".
constexpr std::string_view kGzip("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00",
                                 25);
constexpr std::string_view kXz(
    "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x0c\x00\x00\x00\x8f\x98\x41\x9c\x01\x00\x11\x61\x2c\x62"
    "\x2c\x63\x0a\x31\x2c\x32\x2c\x78\x0a\x33\x2c\x34\x2c\x79\x0a\x00\x00\x00\xa5\x38\xb8\xc7\xd6\xc3\x92\x00\x00\x01\x2a\x12"
    "\x4b\x08\x54\xbc\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a",
    76);

std::string text_of(ByteStream stream) { return std::string(as_text(stream.read_rest())); }

std::string compressed_copy(const ScratchFolder& folder, Compression compression, std::string_view content) {
  OutputFile file(folder.path() / "copy", compression);
  file.write(content);
  file.close();
  file.publish();
  return read_file(folder.path() / "copy");
}

std::string long_text() {
  RandomStream random(7);
  std::string text;
  for (int i = 0; i < 300000; ++i) text += static_cast<char>('a' + random.below(5));
  return text;
}

TEST(ByteStream, RecognisesContentNotNames) {
  const ScratchFolder folder;
  EXPECT_EQ(text_of(ByteStream(folder.write("x.txt", kGzip))), "hello");
  EXPECT_EQ(text_of(ByteStream(folder.write("x.gz", "hello"))), "hello");
  EXPECT_EQ(text_of(ByteStream(folder.write("y.csv", kXz))), "a,b,c\n1,2,x\n3,4,y\n");
  EXPECT_EQ(text_of(ByteStream(folder.write("empty", ""))), "");
}

TEST(ByteStream, LongFilesComeBackFromEveryCompression) {
  const ScratchFolder folder;
  const std::string text = long_text();
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zlib}) {
    compressed_copy(folder, compression, text);
    EXPECT_EQ(text_of(ByteStream(folder.path() / "copy", compression)), text) << name_of(compression);
  }
}

TEST(ByteStream, GzipMembersFollowOneAnother) {
  const ScratchFolder folder;
  EXPECT_EQ(text_of(ByteStream(folder.write("two", std::string(kGzip) + std::string(kGzip)))), "hellohello");
}

TEST(ByteStream, EveryTruncationIsNoticed) {
  const ScratchFolder folder;
  const std::string zlib = compressed_copy(folder, Compression::zlib, "hello, hello");
  for (const auto& [whole, kind] : {std::pair<std::string, Compression>{kGzip, Compression::gzip},
                                    {zlib, Compression::zlib},
                                    {std::string(kXz), Compression::xz},
                                    {std::string(kGzip) + std::string(kGzip), Compression::gzip}}) {
    const Compression compression = kind;  // clang 14 can't capture a structured binding
    for (std::size_t length = 0; length < whole.size(); ++length) {
      if (length == kGzip.size() && compression == Compression::gzip) continue;  // one whole member is a whole file
      const auto path = folder.write("cut", std::string_view(whole).substr(0, length));
      const std::string failure = thrown_error([&] { text_of(ByteStream(path, compression)); });
      EXPECT_NE(failure.find("cut: damaged "), std::string::npos) << name_of(compression) << " " << length << ": " << failure;
    }
  }
}

TEST(ByteStream, WrongChecksumsAndGarbageAreNoticed) {
  const ScratchFolder folder;
  std::string wrong(kGzip);
  wrong[17] = static_cast<char>(wrong[17] ^ 1);
  EXPECT_EQ(thrown_error([&] { text_of(ByteStream(folder.write("crc", wrong))); }),
            fmt::format("data_loss: {}/crc: damaged gzip data near byte 21: incorrect data check", folder.path().string()));
  EXPECT_NE(thrown_error([&] { text_of(ByteStream(folder.write("tail", std::string(kGzip) + "xyz"))); }), "no error");
  EXPECT_NE(thrown_error([&] { text_of(ByteStream(folder.write("tail", std::string(kXz) + "xyz1"))); }), "no error");
  const std::string zlib = compressed_copy(folder, Compression::zlib, "hello") + "x";
  EXPECT_NE(thrown_error([&] { text_of(ByteStream(folder.write("tail", zlib), Compression::zlib)); }).find("bytes follow the end"),
            std::string::npos);
}

TEST(ByteStream, AnUnbelievableCountAllocatesNothing) {
  const ScratchFolder folder;
  for (const std::string_view content : {std::string_view("hello"), kGzip}) {
    ByteStream stream(folder.write("short", content));
    std::vector<std::byte> out;
    EXPECT_EQ(thrown_error([&] { stream.append_to(out, std::uint64_t{1} << 60, "images"); }),
              fmt::format("data_loss: {}/short: expected 1152921504606846976 bytes for images at byte 0, found 5; the file is cut off",
                          folder.path().string()));
    EXPECT_LE(out.capacity(), std::size_t{2} << 20);
  }
}

TEST(ByteStream, TheEndIsWhereTheFormatEnds) {
  const ScratchFolder folder;
  ByteStream stream(folder.write("file", kGzip));
  std::array<std::byte, 4> four{};
  stream.read(four, "four");
  EXPECT_EQ(as_text(four), "hell");
  EXPECT_TRUE(thrown_error([&] { stream.expect_end(); }).ends_with("file: expected the end at byte 4, found more bytes"));
}

TEST(ByteStream, AbsentFilesAndFoldersAreNotFound) {
  const ScratchFolder folder;
  EXPECT_TRUE(thrown_error([&] { ByteStream(folder.path() / "absent"); }).starts_with("not_found: cannot open "));
  EXPECT_TRUE(thrown_error([&] {
                ByteStream(folder.path());
              }).ends_with(": it is a folder; name its files, e.g. " + (folder.path() / "*").string()));
}

TEST(OutputFile, LeavesNothingBehindUnlessPublished) {
  const ScratchFolder folder;
  {
    OutputFile file(folder.path() / "never", Compression::none);
    file.write("half");
    file.close();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace trireme::data
