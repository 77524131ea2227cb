// SPDX-License-Identifier: Apache-2.0
// Tests of files that grow: a disk that refuses records leaves no torn one, and gets all of them when it has room.
#include "trireme/observe/append_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "trireme/base/files.h"
#include "trireme/base/testing/limited_files.h"

namespace trireme::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Seen final : AppendWatch {
  void on_refused(const std::filesystem::path& /*file*/, const Error& why) override { refusals.emplace_back(why.what()); }
  void on_lost(const std::filesystem::path& /*file*/, std::int64_t records) override { lost += records; }
  void on_written(const std::filesystem::path& /*file*/) override { ++recoveries; }

  std::vector<std::string> refusals;
  std::int64_t lost = 0;
  int recoveries = 0;
};

class AppendFileTest : public testing::Test {
 protected:
  AppendFileTest() { std::filesystem::create_directories(folder_); }
  ~AppendFileTest() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("trireme_append_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::filesystem::path path_ = folder_ / "records";
  Seen seen_;
};

TEST_F(AppendFileTest, WhatTheDiskRefusesIsWrittenInOrderWhenItHasRoom) {
  AppendFile file(path_, AppendFile::Mode::append, &seen_);
  file.append("one\n");
  {
    const LimitedFiles full(6);  // "two" is torn
    file.append("two\n");
    file.append("three\n");
    EXPECT_TRUE(file.is_behind());
    file.retry();
    file.sync();
    EXPECT_TRUE(file.is_behind());
    EXPECT_EQ(read_file(path_), "one\n");
    EXPECT_THAT(seen_.refusals, ElementsAre("cannot write " + path_.string() + ": File too large"));
  }
  EXPECT_EQ(seen_.recoveries, 0);
  file.retry();
  EXPECT_FALSE(file.is_behind());
  file.append("four\n");
  EXPECT_EQ(read_file(path_), "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(seen_.recoveries, 1);
  EXPECT_EQ(seen_.lost, 0);
}

TEST_F(AppendFileTest, TooManyThatWaitAreCountedAndTheImportantOnesStayLonger) {
  AppendFile file(path_, AppendFile::Mode::append, &seen_);
  const std::string step(1 << 20, 's'), epoch(1 << 20, 'e');
  {
    const LimitedFiles full(0);
    for (int i = 0; i < 10; ++i) file.append(step, 5);
    for (int i = 0; i < 10; ++i) file.append(epoch, 1, AppendFile::Loss::late);
  }
  EXPECT_EQ(seen_.lost, 2 * 5 + 2);
  file.retry();
  const std::string content = read_file(path_);
  EXPECT_EQ(content.size(), std::size_t{16} << 20);
  EXPECT_EQ(content.back(), 'e');
}

TEST_F(AppendFileTest, OneThatCouldNotBeMadeIsMadeLater) {
  const std::filesystem::path late = folder_ / "later" / "records";
  AppendFile file(late, AppendFile::Mode::create, &seen_);
  EXPECT_TRUE(file.is_behind());
  file.append("one\n");
  std::filesystem::create_directories(late.parent_path());
  file.retry();
  EXPECT_EQ(read_file(late), "one\n");
}

TEST_F(AppendFileTest, WithoutAWatchAFailureIsThrownAndTheRecordDropped) {
  AppendFile file(path_, AppendFile::Mode::append);
  file.append("one\n");
  {
    const LimitedFiles full(6);
    EXPECT_THROW(file.append("two\n"), SystemError);
  }
  file.append("three\n");
  EXPECT_EQ(read_file(path_), "one\nthree\n");
  EXPECT_THROW(AppendFile(path_, AppendFile::Mode::create), SystemError);
  EXPECT_THAT(seen_.refusals, IsEmpty());
}

}  // namespace
}  // namespace trireme::observe
