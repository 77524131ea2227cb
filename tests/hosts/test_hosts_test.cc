// SPDX-License-Identifier: Apache-2.0
// Tests of the test hosts themselves: apart from each other, and gone with their owner.
#include "tests/hosts/test_hosts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "trireme/base/files.h"
#include "trireme/base/testing/wait_until.h"

namespace trireme::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string spaces() { return run_process({"ip", "netns", "list"}, std::chrono::seconds(10)).out; }

TEST(Hosts, AreApart) {
  const TestHosts hosts(2);
  write_file_atomically(hosts.home(0) / "mine", "h1");
  EXPECT_TRUE(hosts.run(0, {"sh", "-c", "test -f $HOME/mine"}).status->is_success());
  EXPECT_FALSE(hosts.run(1, {"sh", "-c", "test -f $HOME/mine"}).status->is_success());
  EXPECT_THAT(hosts.run(0, {"ip", "-4", "addr"}).out, Not(HasSubstr(hosts.address(1))));
  EXPECT_EQ(hosts.run(1, {"hostname"}).out, "h2\n");
}

// Seconds that a connection takes to be made and answered, from one host to the other's sshd.
double answer_seconds(const TestHosts& hosts) {
  const auto start = std::chrono::steady_clock::now();
  const auto output = hosts.run(0, {"ssh-keyscan", "-T", "20", "-t", "ed25519", hosts.address(1)});
  EXPECT_THAT(output.out, HasSubstr("ssh-ed25519"));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Hosts, CanBeFarApart) {
  TestHosts hosts(2);
  answer_seconds(hosts);  // addresses of the network cards are known from now on
  hosts.delay(0, {.delay = std::chrono::milliseconds(100)});
  EXPECT_GT(answer_seconds(hosts), 0.3);  // three questions at least
  hosts.heal(0);
  EXPECT_TRUE(wait_until([&] { return answer_seconds(hosts) < 0.3; }, std::chrono::seconds(20)));  // other work may take its time, too
}

TEST(Hosts, NothingIsLeft) {
  std::filesystem::path folder;
  {
    const TestHosts hosts(1);
    folder = hosts.folder();
    EXPECT_THAT(spaces(), HasSubstr(fmt::format("trireme-{}-h1", ::getpid())));
  }
  EXPECT_THAT(spaces(), Not(HasSubstr(fmt::format("trireme-{}-", ::getpid()))));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Hosts, NothingIsLeftOfAKilledOwner) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const TestHosts hosts(1);
    if (::write(ends[1], "x", 1) != 1) ::_exit(1);
    ::raise(SIGKILL);
  }
  ::close(ends[1]);
  char up = 0;
  EXPECT_EQ(::read(ends[0], &up, 1), 1);
  ::close(ends[0]);
  ::waitpid(owner, nullptr, 0);
  TestHosts::clean_leftovers();
  EXPECT_THAT(spaces(), Not(HasSubstr(fmt::format("trireme-{}-", owner))));
}

}  // namespace
}  // namespace trireme::tests
