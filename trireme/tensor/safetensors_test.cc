// SPDX-License-Identifier: Apache-2.0
// Tests of safetensors files: what is written is read, and every way to lie in a header is refused.
#include "trireme/tensor/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>

#include "trireme/base/digest.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme {
namespace {

class SafetensorsFiles : public testing::Test {
 protected:
  SafetensorsFiles() { std::filesystem::create_directories(folder_); }
  ~SafetensorsFiles() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("trireme_safetensors_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string content(sizeof length, '\0');
  std::memcpy(content.data(), &length, sizeof length);
  return content.append(rest);
}

std::string file_of(std::string_view header, std::size_t data_bytes) {
  return with_length(header.size(), header) + std::string(data_bytes, '\0');
}

std::string fault(std::string content) {
  return thrown_error([&] { Safetensors(std::move(content), "f"); });
}

std::string fault_of(std::string_view header, std::size_t data_bytes) { return fault(file_of(header, data_bytes)); }

bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

TEST_F(SafetensorsFiles, ReadWhatWasWritten) {
  const std::vector<float> array = {1, -2.5F, std::numeric_limits<float>::infinity(), 1e-45F, std::nanf(""), 7, 8};
  const std::span<const float> all(array);
  const std::vector<float> apart = {42};
  const std::vector<TensorToWrite> tensors = {
      {"conv/kernel", {2, 3}, all.first(6)}, {"conv/bias \"ü\n", {1}, all.subspan(6)}, {"scalar", {}, apart}, {"empty", {0, 4}, {}}};
  const auto path = folder_ / "model.safetensors";
  const WrittenFile written = write_safetensors(path, tensors, {{"format", "trireme"}});
  EXPECT_EQ(written.bytes, std::filesystem::file_size(path));
  EXPECT_EQ(written.sha256, digest_of_file(Digest::Kind::sha256, path));

  const Safetensors read = Safetensors::load(path);
  EXPECT_EQ(read.metadata(), (TensorMetadata{{"format", "trireme"}}));
  ASSERT_EQ(read.tensors().size(), tensors.size());
  for (const TensorToWrite& tensor : tensors) {
    const Safetensors::Tensor* found = read.find(tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(found->shape, tensor.shape);
    std::vector<float> values(tensor.values.size());
    read.copy(*found, values);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), tensor.values.begin(), same_bits)) << tensor.name;
  }
  EXPECT_EQ(read.find("conv"), nullptr);
  EXPECT_EQ(read.find("zzz"), nullptr);
}

TEST_F(SafetensorsFiles, TheLayoutIsTheFormats) {
  const std::vector<float> values = {1, 2};
  const std::vector<TensorToWrite> tensors = {{"a", {2}, values}};
  write_safetensors(folder_ / "file", tensors);
  const std::string content = read_file(folder_ / "file");
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  ASSERT_EQ(header.size() % 8, 6U);
  EXPECT_EQ(content, with_length(header.size() + 2, header + "  ") + std::string("\0\0\x80\x3f\0\0\0\x40", 8));
}

TEST_F(SafetensorsFiles, AFileWithoutTensorsIsAFile) {
  write_safetensors(folder_ / "file", {});
  EXPECT_TRUE(Safetensors::load(folder_ / "file").tensors().empty());
}

TEST_F(SafetensorsFiles, WritingRefusesNamesTwiceAndFilesThatAreThere) {
  const std::vector<float> values = {1, 2};
  const std::vector<TensorToWrite> twice = {{"a", {2}, values}, {"b", {2}, values}, {"a", {2}, values}};
  EXPECT_EQ(thrown_error([&] { write_safetensors(folder_ / "file", twice); }), "invalid_argument: the name \"a\" is taken");
  const std::vector<TensorToWrite> reserved = {{"__metadata__", {2}, values}};
  EXPECT_EQ(thrown_error([&] { write_safetensors(folder_ / "file", reserved); }), "invalid_argument: the name \"__metadata__\" is taken");
  const std::vector<TensorToWrite> binary = {{"\xff", {2}, values}};
  EXPECT_TRUE(thrown_error([&] { write_safetensors(folder_ / "file", binary); }).ends_with("is no UTF-8 text"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "file"));
  write_safetensors(folder_ / "file", {});
  EXPECT_TRUE(thrown_error([&] { write_safetensors(folder_ / "file", {}); }).starts_with("already_exists: "));
}

TEST(Safetensors, TheHeadersOrderIsFree) {
  const Safetensors read(
      file_of(R"({"b":{"data_offsets":[4,12],"shape":[2],"dtype":"F32"},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 12), "f");
  EXPECT_EQ(read.tensors().front().name, "a");
  EXPECT_EQ(read.tensors().back().shape, Shape({2}));
}

TEST(Safetensors, LengthsOfTheHeaderThatLie) {
  EXPECT_EQ(fault(""), "data_loss: f: ends after 0 bytes, before the length of its header");
  EXPECT_EQ(fault(std::string(7, '\0')), "data_loss: f: ends after 7 bytes, before the length of its header");
  EXPECT_EQ(fault(with_length(3, "{}")), "data_loss: f: promises a header of 3 bytes, the file ends 2 bytes after its length");
  EXPECT_EQ(fault(with_length(100'000'001, "{}")),
            "data_loss: f: its first 8 bytes promise a header of 100000001 bytes; at most 100000000 are allowed");
  EXPECT_TRUE(fault(with_length(~0ULL, "{}")).starts_with("data_loss: f: its first 8 bytes promise"));
  EXPECT_EQ(fault(with_length(0, "{}")), "data_loss: f: the header at byte 8 begins with no '{'");
  EXPECT_EQ(fault_of(" {}", 0), "data_loss: f: the header at byte 8 begins with no '{'");
}

TEST(Safetensors, HeadersThatAreNoJson) {
  EXPECT_EQ(fault_of("{\"a\":}", 0), "data_loss: f: header: no valid JSON at its byte 6");
  EXPECT_TRUE(fault_of("{} x", 0).starts_with("data_loss: f: header: no valid JSON"));
  EXPECT_TRUE(fault_of("{\"\xff\xfe\":{}}", 0).starts_with("data_loss: f: header: no valid JSON"));
  EXPECT_TRUE(fault_of(std::string("{\0}", 3), 0).starts_with("data_loss: f: header: no valid JSON"));
  EXPECT_EQ(fault_of("{\"a\":" + std::string(100000, '['), 0), "data_loss: f: header: a list where none belongs, after the key \"a\"");
  EXPECT_EQ(fault_of("{\"a\":" + std::string(1000, '{'), 0), "data_loss: f: header: no valid JSON at its byte 7");
}

TEST(Safetensors, RowsThatAreNoTensors) {
  EXPECT_EQ(fault_of(R"({"a":1})", 0), "data_loss: f: header: the number 1 where none belongs, after the key \"a\"");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "data_loss: f: header: \"a\" has no data_offsets");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","dtype":"F32"}})", 4), "data_loss: f: header: dtype of \"a\" is there twice");
  EXPECT_EQ(fault_of(R"({"a":{"color":"red"}})", 4), "data_loss: f: header: \"a\" has the unknown key \"color\"");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4),
            "data_loss: f: header: data_offsets of \"a\" are not two numbers");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4),
            "data_loss: f: header: the number 8 where none belongs, after the key \"data_offsets\"");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4),
            "data_loss: f: header: the number -1 where none belongs, after the key \"shape\"");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4),
            "data_loss: f: header: the number 1.0 where none belongs, after the key \"shape\"");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]}})", 4),
            "data_loss: f: header: the number 18446744073709551616 where none belongs, after the key \"shape\"");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}})", 4),
            "data_loss: f: header: a list where none belongs, after the key \"shape\"");
  EXPECT_EQ(fault_of(R"({"__metadata__":{"a":1}})", 0), "data_loss: f: header: the number 1 where none belongs, after the key \"a\"");
  EXPECT_EQ(fault_of(R"({"__metadata__":{},"__metadata__":{}})", 0), "data_loss: f: header: __metadata__ is there twice");
  EXPECT_EQ(fault_of(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "data_loss: f: header: key \"k\" of __metadata__ is there twice");
}

TEST(Safetensors, OtherTypesAreNamed) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4),
            "unimplemented: f: header: \"a\" has the dtype \"BF16\"; only F32 can be read");
}

TEST(Safetensors, ShapesThatDontFit) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
            "data_loss: f: header: the shape of \"a\" needs 8 bytes, its offsets give it 4");
  // 2^63 * 2 + 1 elements wrap to 4 bytes in 64 bits.
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", 4),
            "data_loss: f: header: the shape of \"a\" needs more bytes than 64 bits can count, its offsets give it 4");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]}})", 0),
            "data_loss: f: header: the shape of \"a\" has the extent 18446744073709551615");
}

TEST(Safetensors, OffsetsThatLie) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 4),
            "data_loss: f: header: \"a\" lies at bytes 4 to 8 of data that have 4");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4),
            "data_loss: f: header: \"a\" lies at bytes 4 to 0 of data that have 4");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5),
            "data_loss: f: header: the tensors end at byte 4 of the data, which have 5");
  EXPECT_EQ(fault_of("{}", 1), "data_loss: f: header: the tensors end at byte 0 of the data, which have 1");
  const std::string a = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)";
  EXPECT_EQ(fault_of(a + R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})", 16),
            "data_loss: f: header: \"b\" begins at byte 12 of the data, the tensor before it ends at 8");
  EXPECT_EQ(fault_of(a + R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12),
            "data_loss: f: header: \"b\" begins at byte 4 of the data, the tensor before it ends at 8");
  EXPECT_EQ(fault_of(a + R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
            "data_loss: f: header: \"b\" begins at byte 0 of the data, the tensor before it ends at 8");
  EXPECT_EQ(fault_of(a + R"("b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})", 8),
            "data_loss: f: header: \"b\" begins at byte 4 of the data, the tensor before it ends at 8");
  EXPECT_EQ(fault_of(a + R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})", 12), "data_loss: f: header: \"a\" is there twice");
}

TEST(Safetensors, NamesInMessagesAreShortAndPrintable) {
  EXPECT_EQ(fault_of("{\"\\u001b[31m\":{}}", 0), "data_loss: f: header: \"\\u001b[31m\" has no dtype");
  EXPECT_LT(fault_of("{\"" + std::string(100000, 'n') + "\":{}}", 0).size(), 200U);
}

TEST_F(SafetensorsFiles, EveryTruncationIsRefused) {
  const std::vector<float> values(20, 1);
  const std::vector<TensorToWrite> tensors = {{"a", {20}, values}};
  write_safetensors(folder_ / "file", tensors);
  const std::string content = read_file(folder_ / "file");
  for (std::size_t length = 0; length < content.size(); ++length)
    EXPECT_TRUE(fault(content.substr(0, length)).starts_with("data_loss: f: ")) << length;
  EXPECT_EQ(fault(content), "no error");
}

#ifdef TRIREME_SANITIZED
constexpr int kSecondsAllowed = 10;
#else
constexpr int kSecondsAllowed = 1;
#endif

TEST(Safetensors, AHundredThousandEntriesTakeLessThanASecond) {
  constexpr std::size_t kEntries = 100'000;
  std::string header = "{";
  for (std::size_t i = 0; i < kEntries; ++i)
    header += fmt::format("\"layer_{}/kernel\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[{},{}]}},", i, 4 * i, 4 * i + 4);
  header.back() = '}';
  const std::clock_t begin = std::clock();  // of the CPU, which tests share
  const Safetensors read(file_of(header, 4 * kEntries), "f");
  EXPECT_LT(std::clock() - begin, kSecondsAllowed * CLOCKS_PER_SEC);
  EXPECT_EQ(read.find("layer_99999/kernel")->begin, 4 * (kEntries - 1));
}

}  // namespace
}  // namespace trireme
