// SPDX-License-Identifier: Apache-2.0
// Locks of files: one holder, waiting with a bound, release.
#include "trireme/base/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme {
namespace {

class FileLocks : public testing::Test {
 protected:
  ~FileLocks() override { std::filesystem::remove(path_); }
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / ("trireme_lock_" + std::to_string(::getpid()));
};

TEST_F(FileLocks, AreHeldByOneAndReleasedWithIt) {
  EXPECT_FALSE(is_locked(path_)) << "there is no file yet";
  FileLock second(path_);
  {
    FileLock first(path_);
    ASSERT_TRUE(first.try_lock());
    first.write("me\n");
    EXPECT_TRUE(is_locked(path_));
    EXPECT_FALSE(second.try_lock());
    EXPECT_FALSE(second.is_held());
  }
  EXPECT_FALSE(is_locked(path_));
  EXPECT_TRUE(second.try_lock());
  second.write("I\n");
  EXPECT_EQ(read_file(path_), "I\n");
}

TEST_F(FileLocks, AreWaitedForWithABound) {
  FileLock first(path_), second(path_);
  ASSERT_TRUE(first.try_lock());
  int waits = 0;
  EXPECT_FALSE(second.lock_within(Seconds(0.05), [&] { ++waits; }));
  EXPECT_EQ(waits, 1);
  first = FileLock();
  EXPECT_TRUE(second.lock_within(Seconds(0), [&] { ++waits; }));
  EXPECT_EQ(waits, 1);
}

TEST_F(FileLocks, SayWhereTheyCannotBe) {
  FileLock lock(path_ / "below" / "lock");
  EXPECT_THAT(thrown_error([&] { lock.try_lock(); }), testing::HasSubstr("lock " + path_.string()));
  lock.lock_if_possible(Seconds(1));
  EXPECT_FALSE(lock.is_held());
}

}  // namespace
}  // namespace trireme
