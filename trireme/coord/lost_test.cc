// SPDX-License-Identifier: Apache-2.0
// Tests of nodes and coordinators that are killed or stopped, as processes of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/base/testing/wait_until.h"
#include "trireme/coord/testing/coordinator.h"
#include "trireme/rpc/testing/child_process.h"

namespace trireme::coord {
namespace {

using rpc::ChildProcess;
using testing::HasSubstr;
using testing::StartsWith;

// Run by the tests below, in a process of its own: a node that waits to be killed or stopped, and says why its membership ended.
TEST(LostChild, DISABLED_Node) {
  const std::string address = ChildProcess::input();
  Membership node = Membership::connect(node_options(address, "child"), kPatience);
  node.at(5, "forward");
  node.ready(kFingerprint);
  try {
    node.await_generation(0, Seconds{20});
  } catch (const Error& error) {
    ChildProcess::say(error.code() == aborted ? 'a' : '?');
  }
}

TEST(Lost, AKilledNodeIsLostWithinASecond) {
  Coordinator coordinator(coordinator_options());
  const ChildProcess child("LostChild.DISABLED_Node", coordinator.addresses().front());
  EXPECT_EQ(next(coordinator), "hello child");
  EXPECT_EQ(next(coordinator), "ready child");
  const Seconds start = now();
  child.signal(SIGKILL);
  EXPECT_EQ(next(coordinator), "lost child: connection closed");
  EXPECT_LT(now() - start, Seconds{1});
}

TEST(Lost, ASilentNodeIsLostAndFencedOffWhenItWakes) {
  Coordinator::Options options = coordinator_options();
  options.silence = Seconds{2};  // more than a busy machine needs for a heartbeat
  Coordinator coordinator(options);
  const ChildProcess child("LostChild.DISABLED_Node", coordinator.addresses().front());
  EXPECT_EQ(next(coordinator), "hello child");
  EXPECT_EQ(next(coordinator), "ready child");
  ASSERT_TRUE(wait_until([&] { return coordinator.progress("child").step == 5; }));
  const Seconds start = now();
  child.signal(SIGSTOP);
  const auto lost = coordinator.next_event(kPatience);
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->kind, Event::Kind::lost);
  EXPECT_EQ(lost->reason, "no heartbeat for 2 s");
  EXPECT_EQ(lost->progress.step, 5);
  EXPECT_EQ(lost->progress.phase, "forward");
  EXPECT_GT(now() - start, Seconds{1.4});  // its last heartbeat was up to 0.4 s old
  EXPECT_LT(now() - start, kPatience);
  child.signal(SIGCONT);
  EXPECT_EQ(child.await_answer(), 'a');
}

TEST(Lost, AShortStopIsForgiven) {
  Coordinator::Options options = coordinator_options();
  options.silence = Seconds{1.5};
  Coordinator coordinator(options);
  const ChildProcess child("LostChild.DISABLED_Node", coordinator.addresses().front());
  EXPECT_EQ(next(coordinator), "hello child");
  EXPECT_EQ(next(coordinator), "ready child");
  child.signal(SIGSTOP);
  EXPECT_FALSE(coordinator.next_event(Seconds{0.6}).has_value());
  child.signal(SIGCONT);
  EXPECT_FALSE(coordinator.next_event(Seconds{2}).has_value());
}

// A coordinator that is stopped itself: run in a process of its own, with a node beside it as a thread of the test.
TEST(LostChild, DISABLED_Coordinator) {
  Coordinator::Options options = coordinator_options();
  options.port = std::stoi(ChildProcess::input());
  options.silence = Seconds{0.5};
  Coordinator coordinator(options);
  for (;;) {
    const auto event = coordinator.next_event(Seconds{20});
    if (!event) return;
    if (event->kind == Event::Kind::hello) ChildProcess::say('h');
    if (event->kind == Event::Kind::lost) ChildProcess::say('l');
  }
}

TEST(Lost, ASilentCoordinatorIsNoticedByItsNodes) {
  const int port = Coordinator(coordinator_options()).port();
  const ChildProcess child("LostChild.DISABLED_Coordinator", std::to_string(port));
  Membership node = Membership::connect(node_options(fmt::format("127.0.0.1:{}", port), "0"), kPatience);
  EXPECT_EQ(child.await_answer(), 'h');
  const Seconds start = now();
  child.signal(SIGSTOP);
  EXPECT_THAT(thrown_error([&] { node.await_generation(0, kPatience); }), HasSubstr("is gone: no word from it for 1 s"));
  EXPECT_LT(now() - start, Seconds{2});
}

TEST(Lost, ACoordinatorThatStoodStillDoesNotBlameItsNodes) {
  const int port = Coordinator(coordinator_options()).port();
  const ChildProcess child("LostChild.DISABLED_Coordinator", std::to_string(port));
  Membership node = Membership::connect(node_options(fmt::format("127.0.0.1:{}", port), "0"), kPatience);
  EXPECT_EQ(child.await_answer(), 'h');
  child.signal(SIGSTOP);
  std::this_thread::sleep_for(Seconds{0.8});  // longer than its silence, shorter than the node's patience
  child.signal(SIGCONT);
  EXPECT_THAT(thrown_error([&] { node.await_generation(0, Seconds{1}); }), StartsWith("deadline_exceeded"));
}

}  // namespace
}  // namespace trireme::coord
