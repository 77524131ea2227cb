// SPDX-License-Identifier: Apache-2.0
// Own errors and lost peers, distinguished.
#include "trireme/train/node/peer_blame.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>

#include "trireme/data/formats/input_file.h"

namespace trireme::train {
namespace {

template <class Action>
bool is_blamed_on_peer(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return blames_peer(error);
  }
  ADD_FAILURE() << "nothing was thrown";
  return true;
}

TEST(PeerBlame, NoErrorOfTheSystemIsAPeersFault) {
  for (int reason = 1; reason <= EHWPOISON; ++reason)
    EXPECT_FALSE(is_blamed_on_peer([&] { throw_system_error(reason, "read a file"); })) << reason;
}

TEST(PeerBlame, AFileThatCannotBeReadIsNoPeersFault) {
  EXPECT_FALSE(is_blamed_on_peer([] { read_file("/proc/self/mem"); })) << "EIO";
  EXPECT_FALSE(is_blamed_on_peer([] {
    std::byte one{};
    data::InputFile("/proc/self/mem").read_at(0, {&one, 1});
  })) << "EIO";
}

TEST(PeerBlame, APeerThatIsGoneOrSilentIs) {
  EXPECT_TRUE(is_blamed_on_peer([] { throw Error{unavailable, "rank 1 is gone"}; }));
  EXPECT_TRUE(is_blamed_on_peer([] { throw Error{deadline_exceeded, "rank 1 kept silent"}; }));
  EXPECT_FALSE(is_blamed_on_peer([] { throw Error{data_loss, "a file is damaged"}; }));
}

// Batches are made by other threads.
TEST(PeerBlame, AnErrorThatCrossesThreadsStaysWhatItIs) {
  EXPECT_FALSE(is_blamed_on_peer([] {
    std::exception_ptr crossing;
    try {
      throw_system_error(EIO, "read a file");
    } catch (...) {
      crossing = std::current_exception();
    }
    std::rethrow_exception(crossing);
  }));
}

}  // namespace
}  // namespace trireme::train
