// SPDX-License-Identifier: Apache-2.0
// Tests of messages that travel together.
#include "trireme/rpc/bulk_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/rpc/grpc_bytes.h"
#include "trireme/rpc/testing/bulk_diary.h"

namespace trireme::rpc {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::vector<std::string> heads_of(const grpc::ByteBuffer& buffer) {
  std::vector<std::string> heads;
  hand_over(buffer, [&](const Incoming& message) { heads.push_back(text_of(message).substr(0, 5)); });
  return heads;
}

TEST(BulkQueue, WhatWaitsGoesTogetherAsFarAsItFitsTheMostUrgentFirst) {
  Bodies bodies;
  const auto loans = std::make_shared<Loans>();
  BulkQueue queue;
  queue.push(text("later"));
  queue.push(bodies.make(BulkQueue::kTogether, 'a'));  // more than fits together with others
  queue.push(text(""));
  queue.push(bodies.make(10, 'b'));
  queue.push(text("first", 3));
  EXPECT_THAT(heads_of(queue.pop(loans)), ElementsAre("first", "later"));
  EXPECT_THAT(heads_of(queue.pop(loans)), ElementsAre("heada"));
  EXPECT_THAT(heads_of(queue.pop(loans)), ElementsAre("", "headb"));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(bodies.left(), 0);
}

TEST(BulkQueue, WhatIsCutOffIsNotTaken) {
  Bodies bodies;
  BulkQueue queue;
  queue.push(bodies.make(7, 'a'));
  queue.push(text("second"));
  const std::string whole = bytes_of(queue.pop(std::make_shared<Loans>()));
  const std::size_t first = sizeof(BulkLength) + 4 + 7;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    if (size == first) continue;
    EXPECT_THAT(thrown_error([&] { heads_of(buffer_of(whole.substr(0, size))); }), StartsWith("data_loss: ")) << size;
  }
  EXPECT_THAT(heads_of(buffer_of(whole)), ElementsAre("heada", "secon"));
}

}  // namespace
}  // namespace trireme::rpc
