// SPDX-License-Identifier: Apache-2.0
// Tests of whole-file reading and writing.
#include "trireme/base/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "trireme/base/testing/thrown_error.h"

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
  EXPECT_EQ(entries(folder_), 1) << "the temporary file is gone too";
}

TEST_F(Files, WhatStandsInTheWayOfAFolderIsNamed) {
  write_file_atomically(folder_ / "file", "x");
  const std::string place = (folder_ / "file").string();
  EXPECT_EQ(thrown_error([&] { write_file_atomically(folder_ / "file" / "inside", "x"); }),
            "not_found: cannot make the directory " + place + ": Not a directory");
}

TEST_F(Files, ReadingNothingOrAFolderIsNotFound) {
  EXPECT_TRUE(thrown_error([&] { read_file(folder_ / "absent"); }).ends_with("absent: No such file or directory"));
  errno = EINTR;  // a stale one must not be reported
  EXPECT_EQ(thrown_error([&] { read_file(folder_); }), "not_found: cannot read " + folder_.string() + ": it is a directory");
}

TEST_F(Files, ReadsWhatHasNoLengthAndRefusesWhatIsTooLong) {
  EXPECT_FALSE(read_file("/proc/self/status").empty());
  write_file_atomically(folder_ / "file", std::string(10000, 'x'));
  EXPECT_EQ(read_file(folder_ / "file", 10000).size(), 10000U);
  EXPECT_EQ(thrown_error([&] { read_file(folder_ / "file", 9999); }),
            "data_loss: " + (folder_ / "file").string() + " is longer than the 9999 bytes it may have");
}

TEST_F(Files, OutputFilesCreateReplaceAndAppend) {
  const auto path = folder_ / "file";
  OutputFile(path, OutputFile::Mode::create).write("one");
  EXPECT_EQ(thrown_error([&] { OutputFile(path, OutputFile::Mode::create); }),
            "already_exists: cannot open " + path.string() + ": File exists");
  OutputFile(path, OutputFile::Mode::append).write(" two");
  EXPECT_EQ(read_file(path), "one two");
  OutputFile(path, OutputFile::Mode::replace).write("three");
  EXPECT_EQ(read_file(path), "three");
}

TEST_F(Files, AFullDiskSaysSo) {
  OutputFile full("/dev/full", OutputFile::Mode::append);
  EXPECT_EQ(thrown_error([&] { full.write("x"); }), "resource_exhausted: cannot write /dev/full: No space left on device");
}

}  // namespace
}  // namespace trireme
