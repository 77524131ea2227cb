// SPDX-License-Identifier: Apache-2.0
// The file for the next coordinator: only its owner can read it, and it goes with the run.
#include "trireme/run/training/takeover.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::run {
namespace {

class TakeoverTest : public testing::Test {
 protected:
  TakeoverTest() { std::filesystem::create_directories(run_); }
  ~TakeoverTest() override { std::filesystem::remove_all(run_); }

  std::filesystem::path run_ = std::filesystem::path(testing::TempDir()) / ("takeover_" + std::to_string(::getpid()));
  std::filesystem::path file_ = takeover_file(run_);
};

TEST_F(TakeoverTest, IsThereForAsLongAsTheCoordinator) {
  using std::filesystem::perms;
  EXPECT_FALSE(read_takeover(file_));
  {
    const Takeover::File file(
        file_,
        {.secret = std::string("\0\xff secret", 9), .port = 4711, .launcher = "ssh", .addresses = {"10.0.0.1"}, .nodes = {"0", "1"}});
    const auto found = read_takeover(file_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->secret, std::string("\0\xff secret", 9));
    EXPECT_EQ(found->port, 4711);
    EXPECT_EQ(found->launcher, "ssh");
    EXPECT_THAT(found->addresses, testing::ElementsAre("10.0.0.1"));
    EXPECT_THAT(found->nodes, testing::ElementsAre("0", "1"));
    EXPECT_EQ(std::filesystem::status(file_).permissions(), perms::owner_read | perms::owner_write);
  }
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(TakeoverTest, ADamagedFileIsReportedWithoutItsContents) {
  write_file_atomically(file_, "{\"secret\": \"c0ffee\"");
  EXPECT_THAT(thrown_error([&] { read_takeover(file_); }),
              testing::AllOf(testing::HasSubstr("coordinator.json"), testing::Not(testing::HasSubstr("c0ffee"))));
}

}  // namespace
}  // namespace trireme::run
