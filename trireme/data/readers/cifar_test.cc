// SPDX-License-Identifier: Apache-2.0
// Tests of CIFAR's binary batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::size_t kImage = 3072;

std::string record(std::string_view labels, char fill) { return std::string(labels) + std::string(kImage, fill); }

TEST(Cifar, TenClassesHaveOneLabelByte) {
  const ScratchFolder folder;
  const auto first = folder.write("one.bin", record("\x09", 'a') + record("\x01", 'b')),
             second = folder.write("two.bin", record("\x05", 'c'));
  const auto source = open_with("cifar", {first, second}, "records = 3");
  EXPECT_EQ(source->format().shape, (Shape{3, 32, 32}));
  EXPECT_EQ(source->format().classes, 10);
  EXPECT_THAT(all_labels(*source), ElementsAre(9, 1, 5));
  EXPECT_THAT(source->file_starts(), ElementsAre(0, 2));
  const std::vector<int> values = all_u8(*source);
  EXPECT_EQ(values[kImage - 1], 'a');
  EXPECT_EQ(values[kImage], 'b');
  EXPECT_EQ(values.back(), 'c');
}

TEST(Cifar, AHundredClassesHaveACoarseAndAFineLabel) {
  const ScratchFolder folder;
  const auto file = folder.write("train.bin", record("\x13\x63", 'x') + record(std::string_view("\x00\x07", 2), 'y'));
  const auto fine = open_with("cifar", {file}, "variant = 'cifar100'");
  EXPECT_THAT(all_labels(*fine), ElementsAre(99, 7));
  EXPECT_EQ(fine->format().classes, 100);
  const auto coarse = open_with("cifar", {file}, "variant = 'cifar100'\nlabels = 'coarse'");
  EXPECT_THAT(all_labels(*coarse), ElementsAre(19, 0));
  EXPECT_EQ(coarse->format().classes, 20);
  EXPECT_EQ(all_u8(*coarse)[0], 'x');
}

TEST(Cifar, DamageIsNamed) {
  const ScratchFolder folder;
  const auto open = [](const std::filesystem::path& file, std::string_view options = "") {
    return thrown_error([&] { open_with("cifar", {file}, options); });
  };
  EXPECT_THAT(open(folder.write("cut", record("\x01", 'a') + "\x02zz")),
              EndsWith("cut: expected whole records of 3073 bytes, found 3076 bytes, 3 after the last whole record (at byte 3073)"));
  EXPECT_THAT(open(folder.write("label", record("\x01", 'a') + record("\x0a", 'b'))),
              EndsWith("label: byte 3073: expected a label from 0 to 9, found 10"));
  EXPECT_THAT(open(folder.write("coarse", record("\x14\x01", 'a')), "variant = 'cifar100'"),
              EndsWith("coarse: byte 0: expected a label from 0 to 19, found 20"));
  EXPECT_THAT(open(folder.write("one", record("\x01", 'a')), "records = 10000"), HasSubstr("expected 10000 records, found 1: "));
}

}  // namespace
}  // namespace trireme::data
