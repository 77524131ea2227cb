// SPDX-License-Identifier: Apache-2.0
// Tests of what is on a node's standard input instead of its secrets. Munge itself is tried in tests/slurm.
#include "trireme/cluster/launch/hand_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::cluster {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kLine = "{\"private_key\":\"-----BEGIN PRIVATE KEY-----\"}";

TEST(HandOver, SshAndTheKernelCarryItAsItIs) {
  EXPECT_EQ(handed_over(kLine + "\n", {}), kLine + "\n");
  EXPECT_EQ(taken_over(kLine), kLine);
}

TEST(HandOver, AFileIsReadByItsOwnerOnce) {
  const auto folder = make_shared_folder(testing::TempDir());
  std::string sent = handed_over(kLine + "\n", {.way = HandOver::Way::file, .folder = folder});
  EXPECT_THAT(sent, Not(HasSubstr("PRIVATE")));
  ASSERT_TRUE(sent.ends_with("\n"));
  sent.pop_back();
  const std::string path = sent.substr(sent.find('/'));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_EQ(taken_over(sent), kLine);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(thrown_error([&] { taken_over(sent); }), HasSubstr(path));
  std::filesystem::remove_all(folder);
}

TEST(HandOver, MungeThatIsNotThereIsReported) {
  EXPECT_THAT(thrown_error([] { handed_over(kLine + "\n", {.way = HandOver::Way::munge, .socket = "/nonexistent/socket"}); }),
              testing::AllOf(HasSubstr("unavailable: "), HasSubstr("munge"), Not(HasSubstr("PRIVATE"))));
  EXPECT_THAT(thrown_error([] { taken_over("munge /nonexistent/socket MUNGE:AwQFAAB:"); }), HasSubstr("unauthenticated: "));
}

}  // namespace
}  // namespace trireme::cluster
