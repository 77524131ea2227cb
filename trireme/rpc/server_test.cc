// SPDX-License-Identifier: Apache-2.0
// Tests of calls and streams over loopback.
#include "trireme/rpc/server.h"

#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

#include "trireme/rpc/testing/child_process.h"
#include "trireme/rpc/testing/server_fixture.h"

namespace trireme::rpc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(ServerTest, AnswersCallsOnEveryAddress) {
  const Server server(options());
  for (const std::string host : {"127.0.0.1", "127.0.0.2"}) {
    Channel channel = Channel::connect(address(server, host), credentials("node", "7"), kPatience);
    EXPECT_EQ(channel.call("echo", "hello", kPatience), "7:hello");
    EXPECT_EQ(channel.call("echo", "", kPatience), "7:");
  }
  EXPECT_THAT(thrown_error([&] { Channel::connect(address(server, "127.0.0.3"), credentials("node"), Seconds{0.3}); }),
              StartsWith("unavailable: cannot reach the coordinator at 127.0.0.3"));
}

TEST_F(ServerTest, ErrorsCrossUnchanged) {
  const Server server(options());
  Channel node = channel(server);
  for (int code = 1; code <= 16; ++code)
    EXPECT_EQ(thrown_error([&] { node.call("fail", std::to_string(code), kPatience); }),
              fmt::format("{}: grün und \"blau\"\nzwei Zeilen", name_of(static_cast<ErrorCode>(code))));
  EXPECT_THAT(thrown_error([&] { node.call("fail", "no number", kPatience); }), StartsWith("internal: 'fail' failed"));
  EXPECT_THAT(thrown_error([&] { node.call("dance", "", kPatience); }), StartsWith("unimplemented: "));
}

TEST_F(ServerTest, RolesAreChecked) {
  const Server server(options());
  Channel node = channel(server);
  EXPECT_EQ(thrown_error([&] { node.call("stop", "", kPatience); }), "permission_denied: 'stop' is not for the role node (called by 0)");
  Channel coordinator = Channel::connect(address(server), credentials("coordinator"), kPatience);
  EXPECT_EQ(coordinator.call("stop", "", kPatience), "0:");
  EXPECT_THAT(thrown_error([&] { coordinator.call("echo", "", kPatience); }), StartsWith("permission_denied"));
  Diary diary;
  const auto session = coordinator.open_session("talk", diary.listener());
  EXPECT_THAT(diary.next(), StartsWith("closed: permission_denied"));
}

using ServerDeathTest = ServerTest;

TEST_F(ServerDeathTest, EveryMethodHasRoles) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Server::Options roleless = options();
  roleless.methods.front().roles.clear();
  EXPECT_DEATH(Server{roleless}, "every method says who may call it");
}

TEST_F(ServerTest, OversizeMessagesAreRefusedBothWays) {
  const Server server(options());
  Channel node = channel(server);
  EXPECT_EQ(node.call("echo", std::string(kMaxMessageBytes - 100, 'x'), kPatience).size(), kMaxMessageBytes - 98);
  EXPECT_THAT(thrown_error([&] { node.call("echo", std::string(kMaxMessageBytes + 1, 'x'), kPatience); }),
              StartsWith("resource_exhausted"));
  EXPECT_THAT(thrown_error([&] { node.call("large", std::to_string(kMaxMessageBytes + 1), kPatience); }), StartsWith("resource_exhausted"));
  EXPECT_EQ(node.call("large", std::to_string(kChunkBytes), kPatience).size(), kChunkBytes);
}

TEST_F(ServerTest, WaitsDontBlockOthers) {
  const Server server(options());
  Channel node = channel(server);
  std::vector<std::future<std::string>> waits;
  for (int i = 0; i < 100; ++i) waits.push_back(std::async(std::launch::async, [&] { return node.call("wait", "", kPatience); }));
  waiting_.wait();
  const Seconds start = now();
  EXPECT_EQ(node.call("echo", "quick", kPatience), "0:quick");
  EXPECT_LT(now() - start, Seconds{1});
  released_.set_value();
  for (auto& wait : waits) EXPECT_EQ(wait.get(), "released");
}

TEST_F(ServerTest, TooManyWaitsAreRefusedInWords) {
  Server::Options few = options();
  few.max_handlers = 1;
  const Server server(few);
  Channel node = channel(server);
  auto wait = std::async(std::launch::async, [&] { return node.call("wait", "", kPatience); });
  ASSERT_TRUE(entered_.try_acquire_for(kPatience));
  EXPECT_THAT(thrown_error([&] { node.call("echo", "", kPatience); }),
              StartsWith("resource_exhausted: the server is answering too many calls"));
  released_.set_value();
  EXPECT_EQ(wait.get(), "released");
}

TEST_F(ServerTest, ACallHasADeadline) {
  const Server server(options());
  Channel node = channel(server);
  const Seconds start = now();
  EXPECT_THAT(thrown_error([&] { node.call("wait", "", Seconds{0.2}); }), HasSubstr("has not answered 'wait' within 0.2 s"));
  EXPECT_LT(now() - start, Seconds{1});
  released_.set_value();
}

TEST_F(ServerTest, AStreamCarriesMessagesBothWays) {
  const Server server(options());
  Channel node = channel(server);
  Diary diary;
  const auto session = node.open_session("talk", diary.listener());
  EXPECT_TRUE(session->send("one"));
  EXPECT_TRUE(session->send(""));
  EXPECT_EQ(diary_.next(), "one");
  EXPECT_EQ(diary_.next(), "");
  const auto other = session_.get_future().get();
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(other->send(std::to_string(i)));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(diary.next(), std::to_string(i));
  session->send("bye");
  session->close(Error{ok, "done"});
  EXPECT_EQ(diary_.next(), "bye");
  EXPECT_EQ(diary_.next(), "closed: ok: closed");
  EXPECT_EQ(diary.next(), "closed: ok: closed");
  EXPECT_FALSE(session->send("late"));
  EXPECT_FALSE(other->send("late"));
}

TEST_F(ServerTest, AStreamClosedByTheServerSaysWhy) {
  const Server server(options());
  Channel node = channel(server);
  Diary diary;
  const auto session = node.open_session("talk", diary.listener());
  const auto other = session_.get_future().get();
  other->send("last words");
  other->close(Error{failed_precondition, "version 1 is not 2"});
  EXPECT_EQ(diary.next(), "last words");
  EXPECT_EQ(diary.next(), "closed: failed_precondition: version 1 is not 2");
  EXPECT_EQ(diary_.next(), "closed: failed_precondition: version 1 is not 2");
  Channel unloved = channel(server, "unloved");
  Diary refused;
  const auto no = unloved.open_session("talk", refused.listener());
  EXPECT_EQ(refused.next(), "closed: already_exists: go away");
}

TEST_F(ServerTest, TheServersEndClosesItsStreams) {
  auto server = std::make_unique<Server>(options());
  Channel node = channel(*server);
  Diary diary;
  const auto session = node.open_session("talk", diary.listener());
  session_.get_future().get();
  server.reset();
  EXPECT_THAT(diary.next(), StartsWith("closed: "));
  EXPECT_THAT(diary_.next(), StartsWith("closed: unavailable"));
  EXPECT_THAT(thrown_error([&] { node.call("echo", "", kPatience); }), StartsWith("unavailable"));
}

// gRPC's own shutdown waits for threads that it was not granted.
TEST_F(ServerTest, GrpcIsNotShutDownWithTheLastServer) {
  {
    const Server server(options());
    EXPECT_EQ(channel(server).call("echo", "x", kPatience), "0:x");
  }
  EXPECT_NE(::grpc_is_initialized(), 0);
}

TEST_F(ServerTest, SecretsInsteadOfCertificatesHandedOut) {
  const std::string secret = "a secret of a job in a file";
  Server::Options with = options();
  with.credentials = Authority::from_secret(secret).issue({.role = "coordinator", .name = "0"}, {}, kHour);
  const Server server(with);
  const Credentials node = Authority::from_secret(secret).issue({.role = "node", .name = "4"}, {}, kHour);
  EXPECT_EQ(Channel::connect(address(server), node, kPatience).call("echo", "x", kPatience), "4:x");
  const Credentials stranger = Authority::from_secret(secret + "!").issue({.role = "node", .name = "4"}, {}, kHour);
  EXPECT_THAT(connection_error(server, stranger), StartsWith("unauthenticated"));
}

// Run by the tests below, in a process of its own: opens a stream and waits to be killed.
TEST(ServerChild, DISABLED_Talks) {
  const std::string input = ChildProcess::input();
  const std::size_t line = input.find('\n');
  const Credentials credentials = Authority::from_secret(input.substr(line + 1)).issue({.role = "node", .name = "child"}, {}, kHour);
  Channel channel = Channel::connect(input.substr(0, line), credentials, kPatience);
  Diary diary;
  const auto session = channel.open_session("talk", diary.listener());
  session->send("here");
  ::sleep(20);
}

TEST_F(ServerTest, AKilledProcessIsNoticedWithinASecond) {
  const std::string secret = "a secret of a job in a file";
  Server::Options with = options();
  with.credentials = Authority::from_secret(secret).issue({.role = "coordinator", .name = "0"}, {}, kHour);
  const Server server(with);
  const ChildProcess child("ServerChild.DISABLED_Talks", address(server) + "\n" + secret);
  ASSERT_EQ(diary_.next(), "here");
  const Seconds start = now();
  child.signal(SIGKILL);
  EXPECT_EQ(diary_.next(), "closed: unavailable: connection closed");
  EXPECT_LT(now() - start, Seconds{1});
  RecordProperty("noticed_ms", static_cast<int>((now() - start).count() * 1000));
}

}  // namespace
}  // namespace trireme::rpc
