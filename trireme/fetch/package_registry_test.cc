// SPDX-License-Identifier: Apache-2.0
// Tests of what npm and apt answer, and of the processes behind it.
#include "trireme/fetch/package_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/fetch/process.h"

namespace trireme::fetch {
namespace {

using testing::HasSubstr;

TEST(PackageRegistry, ReadsNpmsAnswer) {
  const Package package = parse_npm_dist(R"({"tarball": "https://x/y.tgz", "integrity": "sha512-AP8Qq6w=", "shasum": "1"})");
  EXPECT_EQ(package.url, "https://x/y.tgz");
  EXPECT_EQ(package.digest, "00ff10abac");
  for (const char* wrong : {"", "[]", "{", R"({"tarball": "x"})", R"({"tarball": 3, "integrity": "sha512-AA=="})",
                            R"({"tarball": "x", "integrity": "sha1-AA=="})"})
    EXPECT_THAT(thrown_error([&] { parse_npm_dist(wrong); }), HasSubstr("unavailable: npm's answer has no tarball")) << wrong;
  EXPECT_THAT(thrown_error([] { parse_npm_dist(R"({"tarball": "x", "integrity": "sha512-A!=="})"); }), HasSubstr("not base64"));
}

TEST(PackageRegistry, ReadsAptsAnswer) {
  const Package package = parse_apt_uris("'http://x/p/y_1%7e2_all.deb' y_1~2_all.deb 123 SHA256:00ff\n");
  EXPECT_EQ(package.url, "http://x/p/y_1%7e2_all.deb");
  EXPECT_EQ(package.kind, Digest::Kind::sha256);
  EXPECT_EQ(package.digest, "00ff");
  for (const char* wrong : {"", "'http://x' y 1", "http://x y 1 SHA256:00", "'http://x' y 1 MD5Sum:00"})
    EXPECT_THAT(thrown_error([&] { parse_apt_uris(wrong); }), HasSubstr("unavailable: apt's ")) << wrong;
}

TEST(Process, OutputAndFailures) {
  EXPECT_EQ(run_process({"pwd"}, "/", Seconds(10)), "/\n");
  EXPECT_EQ(run_process({"echo", "a b; echo $HOME"}, "/", Seconds(10)), "a b; echo $HOME\n");
  EXPECT_EQ(run_process({"sh", "-c", "head -c 300000 /dev/zero"}, "/", Seconds(10)).size(), 300000U);
  EXPECT_EQ(thrown_error([] {
              run_process({"sh", "-c", "echo why >&2; exit 3"}, "/", Seconds(10));
            }),
            "unavailable: 'sh -c echo why >&2; exit 3' failed (exit code 3): why");
  EXPECT_THAT(thrown_error([] { run_process({"sh", "-c", "kill -9 $$"}, "/", Seconds(10)); }), HasSubstr("failed (signal 9)"));
  EXPECT_THAT(thrown_error([] { run_process({"sleep", "30"}, "/", Seconds(0.1)); }), HasSubstr("'sleep 30' took longer than"));
}

TEST(Process, SignalsThatAreBlockedHereAreNotBlockedThere) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  EXPECT_EQ(run_process({"grep", "SigBlk", "/proc/self/status"}, "/", Seconds(10)), "SigBlk:\t0000000000000000\n");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace trireme::fetch
