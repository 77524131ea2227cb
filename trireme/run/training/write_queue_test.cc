// SPDX-License-Identifier: Apache-2.0
// The order of queued writes, what happens to those behind one that fails, and the room for those that wait.
#include "trireme/run/training/write_queue.h"

#include <gmock/gmock.h>

#include <future>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::run {
namespace {

using testing::ElementsAre;

class WriteQueueTest : public testing::Test {
 protected:
  // A write that ends when the test lets it.
  void hang() {
    queue_.post({.what = "hung"}, [this] { disk_.get_future().wait(); });
  }
  WriteQueue::Number post(int number, std::int64_t bytes = 1) {
    return queue_.post({.what = "test", .bytes = bytes}, [this, number] { written_.push_back(number); });
  }

  SteadyClock clock_;
  std::atomic<int> stop_{0};
  DiskGuard guard_{"/runs/a", {.clock = clock_, .stop = stop_, .say = [](const std::string&) {}, .exit = [](int) {}}};
  std::promise<void> disk_;
  std::vector<int> written_;
  WriteQueue queue_{guard_, 10};
};

TEST_F(WriteQueueTest, WritesInOrderWhileOthersGoOn) {
  hang();
  post(1);
  const auto second = post(2);
  EXPECT_FALSE(queue_.is_written(second));
  disk_.set_value();
  queue_.wait();
  EXPECT_TRUE(queue_.is_written(second));
  EXPECT_THAT(written_, ElementsAre(1, 2));
}

TEST_F(WriteQueueTest, WhatFailsIsThrownOnceAndWhatWaitedBehindItIsDropped) {
  hang();
  queue_.post({.what = "test"}, [] { throw Error{resource_exhausted, "the disk is full"}; });
  const auto behind = post(1);
  disk_.set_value();
  EXPECT_EQ(thrown_error([&] { queue_.wait(); }), "resource_exhausted: the disk is full");
  queue_.check();
  EXPECT_FALSE(queue_.is_written(behind));
  const auto later = post(2);
  queue_.wait();
  EXPECT_TRUE(queue_.is_written(later));
  EXPECT_THAT(written_, ElementsAre(2));
}

TEST_F(WriteQueueTest, ItsEndWaitsForAllThatWasPosted) {
  std::vector<int> written;
  {
    WriteQueue queue(guard_);
    for (int i = 0; i < 3; ++i) queue.post({.what = "test"}, [&written, i] { written.push_back(i); });
  }
  EXPECT_THAT(written, ElementsAre(0, 1, 2));
}

TEST_F(WriteQueueTest, WhoeverPostsMoreThanThereIsRoomForWaits) {
  hang();
  post(1, 10);
  auto more = std::async(std::launch::async, [this] { post(2, 1); });
  EXPECT_EQ(more.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  disk_.set_value();
  more.get();
  post(3, 1000);  // more than there ever is: when nothing else waits
  queue_.wait();
  EXPECT_THAT(written_, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace trireme::run
