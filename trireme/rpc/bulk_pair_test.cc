// SPDX-License-Identifier: Apache-2.0
// Tests of bulk streams inside one process.
#include "trireme/rpc/bulk_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "trireme/rpc/testing/bulk_diary.h"

namespace trireme::rpc {
namespace {

using testing::ElementsAre;

// Both ends of a pair, whose listeners write into one diary.
struct Pair {
  Diary diary;
  std::shared_ptr<BulkSession> near, far;
  std::function<void(const std::string&)> near_received = [](const std::string&) {};
  std::function<void(const std::string&)> far_received = [](const std::string&) {};

  BulkListener listener(const std::string& name, const std::function<void(const std::string&)>& received) {
    return {.received =
                [this, name, &received](const Incoming& message) {
                  diary.write(name + " gets " + text_of(message));
                  received(text_of(message));
                  diary.write(name + " has " + text_of(message));
                },
            .closed = [this, name](const Error& why) { diary.write(fmt::format("{} closed: {}", name, why.what())); }};
  }
  Pair() {
    near = bulk_pair(listener("near", near_received), [&](std::shared_ptr<BulkSession> session) {
      far = std::move(session);
      return listener("far", far_received);
    });
  }
};

TEST(BulkPair, AListenerMaySendFromWithinAndIsCalledInTurn) {
  Pair pair;
  pair.far_received = [&](const std::string& message) { pair.far->send(text("answer to " + message)); };
  pair.near_received = [&](const std::string& message) {
    if (message == "answer to one") pair.near->send(text("two"));
  };
  pair.near->send(text("one"));
  EXPECT_THAT(pair.diary.rest(), ElementsAre("far gets one", "near gets answer to one", "near has answer to one", "far has one",
                                             "far gets two", "near gets answer to two", "near has answer to two", "far has two"));
}

TEST(BulkPair, BodiesAreHandedOnAndLetGo) {
  Bodies bodies;
  int left_within = 0;
  Pair pair;
  pair.far_received = [&](const std::string&) { left_within = bodies.left(); };
  EXPECT_TRUE(pair.near->send(bodies.make(10, 'x')));
  EXPECT_EQ(left_within, 1);
  EXPECT_EQ(bodies.left(), 0);
}

TEST(BulkPair, BothEndsAreClosedOnceAfterTheLastMessage) {
  for (const ErrorCode code : {ok, aborted}) {
    Bodies bodies;
    Pair pair;
    pair.far_received = [&](const std::string& message) {
      if (message != "one") return;
      pair.near->send(bodies.make(1, 'x'));
      pair.far->close(Error{code, "first"});
      pair.near->close(Error{ok, "second"});
      EXPECT_FALSE(pair.near->send(text("late")));
    };
    pair.near->send(text("one"));
    const auto waited = code == ok ? std::vector<std::string>{"far gets headx", "far has headx"} : std::vector<std::string>{};
    std::vector<std::string> expected{"far gets one", "near closed: first", "far has one"};
    expected.insert(expected.end(), waited.begin(), waited.end());
    expected.emplace_back("far closed: first");
    EXPECT_EQ(pair.diary.rest(), expected);
    EXPECT_EQ(bodies.left(), 0);
    EXPECT_FALSE(pair.far->send(text("late")));
  }
}

TEST(BulkPair, ErrorsCloseIt) {
  Pair pair;
  pair.far_received = [](const std::string&) { throw Error{data_loss, "nonsense"}; };
  pair.near->send(text("x"));
  EXPECT_THAT(pair.diary.rest(), ElementsAre("far gets x", "near closed: nonsense", "far closed: nonsense"));
  Diary diary;
  const auto refused = bulk_pair(diary.listener(), [](auto) -> BulkListener { throw Error{already_exists, "go away"}; });
  EXPECT_EQ(diary.next(), "closed: already_exists: go away");
  EXPECT_FALSE(refused->send(text("x")));
}

TEST(BulkPair, ThreadsMaySendAtTheSameTime) {
  std::atomic<int> at_once = 0;
  std::atomic<int> most = 0;
  std::atomic<int> count = 0;
  std::shared_ptr<BulkSession> far;
  const auto busy = [&](const Incoming&) {
    most = std::max(most.load(), ++at_once);
    std::this_thread::yield();
    --at_once;
    ++count;
  };
  const auto near = bulk_pair({.received = [](const Incoming&) {}, .closed = [](const Error&) {}},
                              [&](auto) { return BulkListener{.received = busy, .closed = [](const Error&) {}}; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int message = 0; message < 1000; ++message) near->send(text("x"));
      });
  }
  EXPECT_EQ(count, 4000);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace trireme::rpc
