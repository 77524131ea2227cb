// SPDX-License-Identifier: Apache-2.0
// Tests of failpoints: each action, the nth visit, other nodes' orders, once for all processes.
#include "trireme/base/failpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme {
namespace {

#ifdef TRIREME_FAILPOINTS

using testing::HasSubstr;

class Failpoint : public testing::Test {
 protected:
  ~Failpoint() override { arm_failpoints("", ""); }

  // What became of a child that passes by `visits` times.
  static int status_of_child(std::string_view orders, int visits) {
    const pid_t child = ::fork();
    if (child == 0) {
      arm_failpoints(orders, "1");
      for (int i = 0; i < visits; ++i) failpoint("here");
      ::_exit(7);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, WUNTRACED), child);
    if (WIFSTOPPED(status)) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    return status;
  }
};

TEST_F(Failpoint, DoesNothingWithoutOrders) {
  arm_failpoints("", "1");
  EXPECT_NO_THROW(failpoint("here"));
}

TEST_F(Failpoint, ObeysAtTheNthVisitOnly) {
  arm_failpoints("here:3:throw", "1");
  EXPECT_NO_THROW(failpoint("here"));
  EXPECT_NO_THROW(failpoint("there"));
  EXPECT_NO_THROW(failpoint("here"));
  EXPECT_THAT(thrown_error([] { failpoint("here"); }), HasSubstr("failpoint here"));
  EXPECT_NO_THROW(failpoint("here"));
}

TEST_F(Failpoint, APaceKeepsVisitsApart) {
  arm_failpoints("here:1:pace=0.02", "1");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) failpoint("here");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(60));
}

TEST_F(Failpoint, OrdersForAnotherNodeAreNotOurs) {
  arm_failpoints("here@2:1:throw there@1:1:throw", "1");
  EXPECT_NO_THROW(failpoint("here"));
  EXPECT_THROW(failpoint("there"), Error);
}

TEST_F(Failpoint, FailsAsTheSystemWould) {
  arm_failpoints("full:1:enospc broken:1:eio", "1");
  try {
    failpoint("full");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), resource_exhausted);
    EXPECT_THAT(error.what(), HasSubstr("No space left"));
  }
  EXPECT_THAT(thrown_error([] { failpoint("broken"); }), HasSubstr("Input/output error"));
}

TEST_F(Failpoint, SpoilsWhereItIsAsked) {
  arm_failpoints("here:2:nan there@2:1:nan", "1");
  EXPECT_FALSE(is_spoiled("here"));
  EXPECT_TRUE(is_spoiled("here"));
  EXPECT_FALSE(is_spoiled("here"));
  EXPECT_FALSE(is_spoiled("there"));
}

TEST_F(Failpoint, Sleeps) {
  arm_failpoints("here:1:sleep=0.05", "1");
  const auto begin = std::chrono::steady_clock::now();
  failpoint("here");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
}

TEST_F(Failpoint, KillsStopsAndExits) {
  const int killed = status_of_child("here:2:kill", 2);
  EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL);
  const int spared = status_of_child("here:2:kill", 1);
  EXPECT_TRUE(WIFEXITED(spared) && WEXITSTATUS(spared) == 7);
  const int stopped = status_of_child("here:1:stop", 1);
  EXPECT_TRUE(WIFSTOPPED(stopped) && WSTOPSIG(stopped) == SIGSTOP);
  const int left = status_of_child("here:1:exit", 1);
  EXPECT_TRUE(WIFEXITED(left) && WEXITSTATUS(left) == 1);
}

TEST_F(Failpoint, OnceIsOnceForAllProcesses) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("trireme_failpoint_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string orders = "once=" + folder.string() + " there:1:kill here:1:exit";
  EXPECT_EQ(WEXITSTATUS(status_of_child(orders, 1)), 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "1"));
  EXPECT_FALSE(std::filesystem::exists(folder / "0"));
  EXPECT_EQ(WEXITSTATUS(status_of_child(orders, 1)), 7);
  std::filesystem::remove_all(folder);
}

TEST_F(Failpoint, MistakesInOrdersAreReported) {
  for (const char* orders : {"here", "here:1", "here:0:kill", "here:-1:kill", "here:x:kill", "here:1:explode", "here:1:sleep",
                             "here:1:sleep=x", "here:1:kill=3", "here:1:kill:2"})
    EXPECT_THROW(arm_failpoints(orders, "1"), Error) << orders;
}

#else

TEST(Failpoint, IsNothingInThisBuild) {
  arm_failpoints("here:1:kill", "1");
  failpoint("here");  // would end this process
}

#endif

}  // namespace
}  // namespace trireme
