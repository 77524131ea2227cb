// SPDX-License-Identifier: Apache-2.0
// Tests of whole-file reading and writing.
#include "trireme/base/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/thrown_error.h"

namespace trireme {
namespace {

class Files : public testing::Test {
 protected:
  Files() { std::filesystem::create_directories(folder_); }
  ~Files() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("trireme_files_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::ptrdiff_t entries(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

TEST_F(Files, WritesWhatIsReadAndMakesFolders) {
  const std::string content("a\0b\n", 4);
  write_file_atomically(folder_ / "deep" / "er" / "file", content);
  EXPECT_EQ(read_file(folder_ / "deep" / "er" / "file"), content);
}

TEST_F(Files, ReplacesAndLeavesNothingBeside) {
  write_file_atomically(folder_ / "file", "long first content");
  write_file_atomically(folder_ / "file", "second");
  EXPECT_EQ(read_file(folder_ / "file"), "second");
  EXPECT_EQ(entries(folder_), 1);
}

TEST_F(Files, AFailedWriteSaysWhyAndKeepsTheOld) {
  std::filesystem::create_directories(folder_ / "busy" / "inside");
  EXPECT_TRUE(thrown_error([&] { write_file_atomically(folder_ / "busy", "x"); }).starts_with("unavailable: cannot rename "));
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "busy" / "inside"));
}

TEST_F(Files, ReadingNothingOrAFolderIsNotFound) {
  EXPECT_TRUE(thrown_error([&] { read_file(folder_ / "absent"); }).ends_with("absent: No such file or directory"));
  EXPECT_TRUE(thrown_error([&] { read_file(folder_); }).starts_with("not_found: cannot read "));
}

}  // namespace
}  // namespace trireme
