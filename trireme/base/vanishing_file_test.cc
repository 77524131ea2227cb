// SPDX-License-Identifier: Apache-2.0
// Tests of files that are gone, or can be opened and not read.
#include "trireme/base/vanishing_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace trireme {
namespace {

TEST(VanishingFile, IsReadWholeWhileItIsThere) {
  EXPECT_THAT(read_vanishing_file("/proc/self/status").value_or(""), testing::HasSubstr("VmRSS"));
}

TEST(VanishingFile, IsNoneIfItIsNotThere) { EXPECT_FALSE(read_vanishing_file("/proc/self/absent")); }

// As the status of a process that ends between opening and reading: the read fails.
TEST(VanishingFile, IsNoneIfItCanBeOpenedAndNotRead) {
  EXPECT_FALSE(read_vanishing_file("/proc/self/mem"));
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string path = "/proc/" + std::to_string(child) + "/status";
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(opened, 0);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(read_vanishing_file("/proc/self/fd/" + std::to_string(opened)));
  ::close(opened);
}

}  // namespace
}  // namespace trireme
