// SPDX-License-Identifier: Apache-2.0
// What an error becomes on its way to the caller.
#include "trireme/rpc/grpc_bytes.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "trireme/base/files.h"

namespace trireme::rpc {
namespace {

TEST(Status, ADiskOfThisMachineDoesNotLookLikeAMachineThatIsGone) {
  try {
    throw_system_error(EIO, "write /runs/1");
  } catch (const Error& error) {
    const Error arrived = error_of(status_of(error));
    EXPECT_EQ(arrived.code(), internal);
    EXPECT_STREQ(arrived.what(), error.what());
  }
  EXPECT_EQ(error_of(status_of(Error{unavailable, "the server is ending"})).code(), unavailable);
}

}  // namespace
}  // namespace trireme::rpc
