// SPDX-License-Identifier: Apache-2.0
// Tests of a coordinator with its nodes as threads, over loopback.
#include "trireme/coord/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/base/testing/wait_until.h"
#include "trireme/coord/testing/coordinator.h"
#include "trireme/rpc/channel.h"

namespace trireme::coord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Coordinator, NodesJoinAndGetRanks) {
  Coordinator coordinator(coordinator_options());
  Membership b = join(coordinator, "b");
  const auto hello = coordinator.next_event(kPatience);
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->kind, Event::Kind::hello);
  EXPECT_EQ(hello->info.host, "hostb");
  EXPECT_EQ(hello->info.cores, 2);
  EXPECT_EQ(hello->info.process, ::getpid());
  EXPECT_EQ(b.welcome(), "the job");
  EXPECT_EQ(b.node(), "b");
  Membership a = join(coordinator, "a");
  EXPECT_EQ(next(coordinator), "hello a");
  EXPECT_THAT(coordinator.nodes(), ElementsAre("a", "b"));
  EXPECT_THAT(thrown_error([&] { a.await_generation(0, Seconds{0.05}); }), StartsWith("deadline_exceeded: "));
  b.ready(kFingerprint);
  a.ready(kFingerprint);
  next(coordinator);
  next(coordinator);
  coordinator.announce(generation_of(1, {"b", "a"}));
  for (Membership* node : {&a, &b}) {
    const Generation generation = node->await_generation(0, kPatience);
    EXPECT_EQ(generation.number, 1U);
    EXPECT_EQ(generation.size(), 2);
    EXPECT_EQ(generation.rank_of(node->node()), node == &a ? 1 : 0);
    EXPECT_EQ(generation.members[1].host, "hosta");
  }
}

TEST(Coordinator, MessagesGoBothWays) {
  Cluster cluster({"0", "1"});
  cluster.nodes[1].send({.kind = "record", .bytes = "loss 0.5"});
  EXPECT_EQ(next(cluster.coordinator), "message 1: loss 0.5");
  EXPECT_FALSE(cluster.nodes[0].receive().has_value());
  cluster.coordinator.send("1", {.kind = "command", .bytes = "save"});
  cluster.coordinator.broadcast({.kind = "command", .bytes = "stop"});
  EXPECT_EQ(cluster.nodes[1].receive(kPatience)->bytes, "save");
  EXPECT_EQ(cluster.nodes[1].receive(kPatience)->bytes, "stop");
  EXPECT_EQ(cluster.nodes[0].receive(kPatience)->bytes, "stop");
  cluster.coordinator.send("nobody", {.kind = "command", .bytes = "save"});
  const Message long_one{.kind = "k", .bytes = std::string(kMessageBytes - 1, 'x')};
  cluster.nodes[0].send(long_one);
  EXPECT_EQ(cluster.coordinator.next_event(kPatience)->message.bytes.size(), long_one.bytes.size());
  EXPECT_THAT(thrown_error([&] { cluster.nodes[0].send({.kind = "k", .bytes = std::string(kMessageBytes, 'x')}); }), HasSubstr("too long"));
}

TEST(Coordinator, FailuresAndProgressAreReported) {
  Coordinator::Options options = coordinator_options();
  options.silence = Seconds{0.5};
  Cluster cluster({"0", "1"}, options);
  cluster.nodes[0].at(17, "exchange");
  ASSERT_TRUE(wait_until([&] { return cluster.coordinator.progress("0").step == 17; }));
  EXPECT_EQ(cluster.coordinator.progress("0").phase, "exchange");
  cluster.nodes[1].fail({.rank = 1, .progress = {.step = 18, .phase = "backward"}, .code = data_loss, .text = "no", .blames_peer = true});
  const auto event = cluster.coordinator.next_event(kPatience);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, Event::Kind::failed);
  EXPECT_EQ(event->failure.rank, 1);
  EXPECT_EQ(event->failure.progress.step, 18);
  EXPECT_EQ(event->failure.progress.phase, "backward");
  EXPECT_EQ(event->failure.code, data_loss);
  EXPECT_TRUE(event->failure.blames_peer);
}

TEST(Coordinator, AMismatchIsRefusedSayingWhich) {
  Coordinator coordinator(coordinator_options());
  Membership::Options old = node_options(coordinator.addresses().front(), "old");
  old.version = "1.1";
  EXPECT_EQ(
      thrown_error([&] { Membership::connect(old, kPatience); }),
      "failed_precondition: node 'old' on hostold has version 1.1 of the program, the coordinator 1.2: install the same on every machine");
  EXPECT_THAT(next(coordinator), StartsWith("refused old: "));

  Membership first = join(coordinator, "0");
  first.ready(kFingerprint);
  EXPECT_EQ(next(coordinator), "hello 0");
  EXPECT_EQ(next(coordinator), "ready 0");
  Membership second = join(coordinator, "1");
  JobFingerprint other = kFingerprint;
  other.data = "dd";
  second.ready(other);
  const std::string reason = "the data of node '1' on host1 is dd, that of node '0' on host0 is cc: compare the data files";
  EXPECT_THAT(thrown_error([&] { second.await_generation(0, kPatience); }), HasSubstr(reason));
  EXPECT_EQ(next(coordinator), "hello 1");
  EXPECT_THAT(next(coordinator), StartsWith("refused 1: " + reason));
  EXPECT_THAT(coordinator.nodes(), ElementsAre("0"));
  EXPECT_THAT(thrown_error([&] { second.send({}); }), StartsWith("failed_precondition: "));
}

TEST(Coordinator, AnExpectedCardIsTheMeasure) {
  Coordinator::Options options = coordinator_options();
  options.expected = kFingerprint;
  Coordinator coordinator(options);
  Membership node = join(coordinator, "0");
  JobFingerprint other = kFingerprint;
  other.model = "xx";
  node.ready(other);
  EXPECT_THAT(thrown_error([&] { node.await_generation(0, kPatience); }),
              HasSubstr("the model of node '0' on host0 is xx, that of the coordinator is bb"));
}

TEST(Coordinator, ANameIsTakenOnlyOnce) {
  Coordinator coordinator(coordinator_options());
  const Membership first = join(coordinator, "0");
  Membership::Options other = node_options(coordinator.addresses().front(), "0");
  other.info.process += 1;
  EXPECT_THAT(thrown_error([&] { Membership::connect(other, kPatience); }),
              StartsWith("already_exists: there is a node '0' already, on host0"));
  EXPECT_EQ(next(coordinator), "hello 0");
  EXPECT_THAT(next(coordinator), StartsWith("refused 0: "));
  EXPECT_THAT(coordinator.nodes(), ElementsAre("0"));
}

// It may notice the end of its connection before the coordinator does.
TEST(Coordinator, AProcessThatComesAgainReplacesItself) {
  Coordinator coordinator(coordinator_options());
  const Membership first = join(coordinator, "0");
  const Membership second = join(coordinator, "0");
  EXPECT_EQ(next(coordinator), "hello 0");
  EXPECT_EQ(next(coordinator), "lost 0: it has rejoined");
  EXPECT_EQ(next(coordinator), "hello 0");
  EXPECT_THAT(coordinator.nodes(), ElementsAre("0"));
}

TEST(Membership, RejoinsAnotherCoordinatorAtTheSameAddress) {
  Coordinator::Options options = coordinator_options();
  auto coordinator = std::make_unique<Coordinator>(options);
  options.port = coordinator->port();
  Membership node = join(*coordinator, "0");
  coordinator.reset();
  EXPECT_THAT(thrown_error([&] { node.await_generation(0, kPatience); }), StartsWith("unavailable: "));
  EXPECT_TRUE(node.cancellation()->is_cancelled());
  coordinator = std::make_unique<Coordinator>(options);
  node.rejoin(kPatience);
  EXPECT_EQ(next(*coordinator), "hello 0");
  node.ready(kFingerprint);
  EXPECT_EQ(next(*coordinator), "ready 0");
  coordinator->announce(generation_of(7, {"0"}));
  EXPECT_EQ(node.await_generation(0, kPatience).number, 7U);
  EXPECT_FALSE(node.cancellation()->is_cancelled());
  coordinator->announce(generation_of(8, {"0"}));
  EXPECT_EQ(node.await_generation(7, kPatience).number, 8U);
}

// As a worker's telemetry does. ThreadSanitizer and AddressSanitizer watch.
TEST(Membership, IsUsedByAnotherThreadWhileItRejoins) {
  Coordinator::Options options = coordinator_options();
  auto coordinator = std::make_unique<Coordinator>(options);
  options.port = coordinator->port();
  Membership node = join(*coordinator, "0");
  std::atomic<int> sent{0};
  std::jthread telemetry([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      node.clock_offset();
      EXPECT_EQ(node.node(), "0");
      try {
        node.send({.kind = "telemetry", .bytes = "x"});
        ++sent;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), unavailable) << error.what();  // not now
      }
    }
  });
  for (int i = 0; i < 3; ++i) {
    coordinator.reset();
    EXPECT_THAT(thrown_error([&] { node.await_generation(0, kPatience); }), StartsWith("unavailable: "));
    coordinator = std::make_unique<Coordinator>(options);
    node.rejoin(kPatience);
    const int before = sent;
    ASSERT_TRUE(wait_until([&] { return sent != before; }));
  }
}

TEST(Coordinator, AnEventKnowsTheGenerationItHappenedIn) {
  Cluster cluster({"0", "1"});
  cluster.nodes[0].send({.kind = "record", .bytes = "of the first"});
  cluster.nodes[0].at(1, "after it");  // on the same stream, so that the message is in the queue when this is known
  ASSERT_TRUE(wait_until([&] { return cluster.coordinator.progress("0").step == 1; }));
  cluster.announce(2, {"0", "1"});
  cluster.nodes[0].send({.kind = "record", .bytes = "of the second"});
  for (const std::uint64_t generation : {1U, 2U}) {
    const auto event = cluster.coordinator.next_event(kPatience);
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->generation, generation) << event->message.bytes;
  }
}

TEST(Coordinator, LeavingIsNotBeingLost) {
  Cluster cluster({"0", "1", "2"});
  cluster.nodes[0].leave();
  EXPECT_EQ(next(cluster.coordinator), "left 0");
  EXPECT_THAT(thrown_error([&] { cluster.nodes[0].send({}); }), StartsWith("cancelled: node '0' has left"));
  cluster.coordinator.dismiss("1");
  EXPECT_THAT(thrown_error([&] { cluster.nodes[1].await_generation(1, kPatience); }), StartsWith("cancelled: node '1' was dismissed"));
  EXPECT_TRUE(cluster.nodes[1].dismissed());
  cluster.nodes[1].leave();
  EXPECT_EQ(next(cluster.coordinator), "left 1");
  cluster.nodes.pop_back();
  EXPECT_EQ(next(cluster.coordinator), "lost 2: connection closed");
  EXPECT_FALSE(cluster.coordinator.next_event(Seconds{0.05}).has_value());
  const Membership again = join(cluster.coordinator, "2");
  EXPECT_EQ(next(cluster.coordinator), "hello 2");
}

TEST(Coordinator, TheStoreCarriesValuesBetweenMembers) {
  Cluster cluster({"0", "1"});
  auto waiting = std::async(std::launch::async, [&] { return cluster.nodes[1].store().get("address", kPatience); });
  const std::string value("a\0b\xff", 4);
  cluster.nodes[0].store().set("address", value);
  EXPECT_EQ(waiting.get(), value);
  const Seconds start = now();
  EXPECT_EQ(thrown_error([&] { cluster.nodes[0].store().get("nothing", Seconds{0.2}); }),
            "deadline_exceeded: no member has set 'nothing' within 0.2 s");
  EXPECT_LT(now() - start, Seconds{1});
}

// It may be in the middle of something that would go on for long.
TEST(Coordinator, AMemberThatIsLeftOutLearnsThatItsGenerationIsOver) {
  Cluster cluster({"0", "1"});
  Membership& left_out = cluster.nodes[1];
  cluster.announce(2, {"0"});
  ASSERT_TRUE(wait_until([&] { return left_out.announced() >= 2; }));
  EXPECT_TRUE(left_out.cancellation()->is_cancelled());
  EXPECT_THAT(thrown_error([&] { left_out.await_generation(1, Seconds{0.05}); }), StartsWith("deadline_exceeded: "))
      << "it takes no part in what was announced";
  cluster.announce(3, {"0", "1"});
  EXPECT_FALSE(left_out.cancellation()->is_cancelled());
}

TEST(Coordinator, KnowsWhatANodeIsAtAlsoInAGenerationThatIsOver) {
  Coordinator::Options options = coordinator_options();
  options.silence = Seconds{0.5};
  Cluster cluster({"0", "1"}, options);
  cluster.nodes[1].at(7, "wait");
  const auto progress = [&] { return cluster.coordinator.progress("1"); };
  ASSERT_TRUE(wait_until([&] { return progress().step == 7; }));
  EXPECT_EQ(progress().waits_for, comm::PeerWait::kNoPeer);
  cluster.announce(2, {"0"});
  const std::uint64_t moves = progress().moves;
  const double before = progress().seconds;
  ASSERT_TRUE(wait_until([&] { return progress().seconds > before; }));
  EXPECT_EQ(progress().moves, moves) << "it stands still";
  EXPECT_EQ(progress().generation, 1U);
  cluster.nodes[1].peer_wait()->begin(comm::PeerWait::kUnknownPeer);
  cluster.nodes[1].at(7, "lease");
  ASSERT_TRUE(wait_until([&] { return progress().moves != moves; }));
  EXPECT_EQ(progress().phase, "lease");
  EXPECT_EQ(progress().waits_for, comm::PeerWait::kUnknownPeer);
}

TEST(Coordinator, AnOlderGenerationIsFencedOff) {
  Cluster cluster({"0", "1"});
  Membership& old = cluster.nodes[0];
  Membership& member = cluster.nodes[1];
  old.store().set("key", "of 1");
  auto waiting = std::async(std::launch::async, [&] { return thrown_error([&] { old.store().get("never", kPatience); }); });
  cluster.coordinator.announce(generation_of(2, {"1", "0"}));
  EXPECT_THAT(waiting.get(), testing::AllOf(StartsWith("failed_precondition"), HasSubstr("2 holds")));
  EXPECT_EQ(member.await_generation(1, kPatience).number, 2U);

  EXPECT_EQ(thrown_error([&] { old.store().set("key", "late"); }), "failed_precondition: node '0' calls from generation 1, but 2 holds");
  EXPECT_THAT(thrown_error([&] { member.store().get("key", Seconds{0.05}); }), StartsWith("deadline_exceeded"));
  old.send({.kind = "commit", .bytes = "step 7 of 1"});
  old.fail({.rank = 0, .text = "late"});
  member.send({.kind = "commit", .bytes = "step 7 of 2"});
  EXPECT_EQ(next(cluster.coordinator), "message 1: step 7 of 2");
  ASSERT_TRUE(wait_until([&] { return cluster.coordinator.refused_messages() >= 2; }));
  EXPECT_FALSE(cluster.coordinator.next_event(Seconds{0.05}).has_value());

  EXPECT_EQ(old.announced(), 2U);
  EXPECT_EQ(old.await_generation(1, kPatience).number, 2U);
  old.send({.kind = "commit", .bytes = "step 8 of 2"});
  EXPECT_EQ(next(cluster.coordinator), "message 0: step 8 of 2");
}

TEST(Coordinator, MessagesOfANodeOutsideTheGenerationAreRefused) {
  Cluster cluster({"0", "1"});
  cluster.announce(2, {"1"});
  cluster.nodes[0].send({.kind = "commit", .bytes = "from outside"});
  ASSERT_TRUE(wait_until([&] { return cluster.coordinator.refused_messages() >= 1; }));
  EXPECT_THAT(thrown_error([&] { cluster.nodes[0].store().set("key", "x"); }), StartsWith("failed_precondition"));
}

TEST(Coordinator, MethodsAreForMembersUnlessTheySayOtherwise) {
  using Callers = Coordinator::Method::Callers;
  Coordinator::Options options = coordinator_options();
  const auto echo = [](const std::string& node, const std::string& request) { return node + ":" + request; };
  options.methods = {{.name = "commit", .handler = echo}, {.name = "read", .callers = Callers::anyone, .handler = echo}};
  Coordinator coordinator(options);
  Membership node = join(coordinator, "0");
  EXPECT_EQ(node.call("read", "x", kPatience), "0:x");
  EXPECT_THAT(thrown_error([&] { node.call("commit", "x", kPatience); }), StartsWith("failed_precondition"));
  node.ready(kFingerprint);
  next(coordinator);
  next(coordinator);
  coordinator.announce(generation_of(1, {"0"}));
  EXPECT_THAT(thrown_error([&] { node.call("commit", "x", kPatience); }), StartsWith("failed_precondition"));
  node.await_generation(0, kPatience);
  EXPECT_EQ(node.call("commit", "x", kPatience), "0:x");
  coordinator.announce(generation_of(2, {"0"}));
  EXPECT_THAT(thrown_error([&] { node.call("commit", "x", kPatience); }), StartsWith("failed_precondition"));
  EXPECT_EQ(node.call("read", "x", kPatience), "0:x");
}

// A role that may not call a method learns so before anything else is looked at.
TEST(Coordinator, EveryMethodAndStreamIsForNodesOnly) {
  Coordinator::Options options = coordinator_options();
  options.methods = {{.name = "commit", .handler = [](const std::string&, std::string request) { return request; }}};
  const Coordinator coordinator(options);
  for (const std::string role : {"coordinator", "intruder"}) {
    if (role == "intruder") {
      EXPECT_THAT(thrown_error([&] { rpc::Channel::connect(coordinator.addresses().front(), credentials_of(role, "0"), kPatience); }),
                  StartsWith("permission_denied: 'ping' is not for the role intruder"));
      continue;
    }
    rpc::Channel channel = rpc::Channel::connect(coordinator.addresses().front(), credentials_of(role, "0"), kPatience);
    for (const std::string method : {"store_set", "store_get", "commit", "membership"})
      EXPECT_THAT(thrown_error([&] { channel.call(method, "", kPatience); }), StartsWith("permission_denied")) << method;
  }
  // A node that has not said hello has no identity yet.
  rpc::Channel silent = rpc::Channel::connect(coordinator.addresses().front(), credentials_of("node", "0"), kPatience);
  for (const std::string method : {"store_set", "store_get", "commit"}) {
    EXPECT_THAT(thrown_error([&] { silent.call(method, std::string(16, '\0'), kPatience); }), StartsWith("failed_precondition")) << method;
    EXPECT_THAT(thrown_error([&] { silent.call(method, "short", kPatience); }), StartsWith("invalid_argument")) << method;
  }
}

TEST(Coordinator, ItsEndIsNoticedByItsNodes) {
  auto coordinator = std::make_unique<Coordinator>(coordinator_options());
  std::promise<std::string> told;
  Membership::Options options = node_options(coordinator->addresses().front(), "0");
  options.ended = [&](const Error& why) { told.set_value(why.what()); };
  Membership node = Membership::connect(options, kPatience);
  EXPECT_FALSE(node.lost());
  auto waiting = std::async(std::launch::async, [&] { return thrown_error([&] { node.await_generation(0, kPatience); }); });
  const Seconds start = now();
  coordinator.reset();
  EXPECT_THAT(waiting.get(), HasSubstr("is gone: the coordinator has ended"));
  EXPECT_LT(now() - start, Seconds{1});
  EXPECT_THAT(told.get_future().get(), HasSubstr("is gone"));
  EXPECT_TRUE(node.lost());
  EXPECT_THAT(thrown_error([&] { node.send({}); }), StartsWith("unavailable"));
  EXPECT_THAT(thrown_error([&] { node.store().set("k", "v"); }), StartsWith("unavailable"));
}

// Beside the time that really passes.
class JumpingClock final : public Clock {
 public:
  Seconds now() const override { return SteadyClock().now() + Seconds{jump_.load()}; }
  void jump(Seconds by) { jump_ = by.count(); }

 private:
  std::atomic<double> jump_{0};
};

// Its own absence is not the nodes' silence.
TEST(Coordinator, WhoseProcessStoodStillLosesNoNode) {
  const auto clock = std::make_shared<JumpingClock>();
  Coordinator::Options options = coordinator_options();
  options.clock = clock;
  Coordinator coordinator(options);
  const Membership node = join(coordinator, "0");
  EXPECT_EQ(next(coordinator), "hello 0");
  clock->jump(Seconds{3600});
  EXPECT_FALSE(coordinator.next_event(Seconds{1}).has_value());
  EXPECT_EQ(coordinator.nodes().size(), 1U);
}

}  // namespace
}  // namespace trireme::coord
