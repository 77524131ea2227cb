// SPDX-License-Identifier: Apache-2.0
// Tests of calls and streams over loopback, with friends, strangers and the dying.
#include "trireme/rpc/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>

#include "trireme/base/host.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/testing/child_process.h"

namespace trireme::rpc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Seconds kHour{3600};
constexpr Seconds kPatience{10};

Seconds now() { return SteadyClock().now(); }

// What a listener was told, to be waited for.
class Diary {
 public:
  SessionListener listener() {
    return {.received = [this](std::string bytes) { write(std::move(bytes)); },
            .closed = [this](const Error& why) { write(fmt::format("closed: {}: {}", name_of(why.code()), why.what())); }};
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return read_ < lines_.size(); })) return "nothing";
    return lines_[read_++];
  }

 private:
  void write(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::size_t read_ = 0;
};

class ServerTest : public testing::Test {
 protected:
  Credentials credentials(const std::string& role, const std::string& name = "0") const {
    return authority_.issue({.role = role, .name = name}, {"127.0.0.1"}, kHour);
  }

  Server::Options options() {
    const auto echo = [](const Peer& peer, const std::string& request) { return peer.identity.name + ":" + request; };
    const auto fail = [](const Peer&, const std::string& request) -> std::string {
      throw Error{static_cast<ErrorCode>(std::stoi(request)), "{}", "grün und \"blau\"\nzwei Zeilen"};
    };
    const auto wait = [this](const Peer&, const std::string&) {
      waiting_.count_down();
      entered_.release();
      release_.wait_for(kPatience);
      return std::string("released");
    };
    return {.addresses = {"127.0.0.1", "127.0.0.2"},
            .credentials = credentials("coordinator"),
            .methods = {{.name = "echo", .roles = {"node"}, .handler = echo},
                        {.name = "fail", .roles = {"node"}, .handler = fail},
                        {.name = "stop", .roles = {"coordinator"}, .handler = echo},
                        {.name = "wait", .roles = {"node"}, .handler = wait},
                        {.name = "large",
                         .roles = {"node"},
                         .handler = [](const Peer&, const std::string& size) { return std::string(std::stoul(size), 'x'); }}},
            .streams = {{.name = "talk", .roles = {"node"}, .opened = [this](const Peer& peer, const std::shared_ptr<Session>& session) {
                           if (peer.identity.name == "unloved") throw Error{already_exists, "go away"};
                           session_.set_value(session);
                           return diary_.listener();
                         }}}};
  }

  static std::string address(const Server& server, const std::string& host = "127.0.0.1") { return join_host_port(host, server.port()); }
  Channel channel(const Server& server, const std::string& name = "0") const {
    return Channel::connect(address(server), credentials("node", name), kPatience);
  }
  static std::string connection_error(const Server& server, const Credentials& with) {
    return thrown_error([&] { Channel::connect(address(server), with, kPatience); });
  }

  const Authority authority_ = Authority::create();
  std::latch waiting_{100};
  std::counting_semaphore<> entered_{0};
  std::promise<void> released_;
  std::shared_future<void> release_ = released_.get_future().share();
  Diary diary_;
  std::promise<std::shared_ptr<Session>> session_;
};

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

TEST_F(ServerTest, StrangersAreRefusedAndTheServerLivesOn) {
  const Server server(options());
  const Seconds start = now();
  const Credentials other = Authority::create().issue({.role = "node", .name = "0"}, {}, kHour);
  EXPECT_THAT(connection_error(server, other), StartsWith("unauthenticated: "));
  Credentials mixed = other;
  mixed.authority = authority_.certificate();
  EXPECT_THAT(connection_error(server, mixed), StartsWith("unauthenticated: "));
  const Credentials expired = authority_.issue({.role = "node", .name = "0"}, {}, -2 * Authority::kClockSlack);
  EXPECT_THAT(connection_error(server, expired), AllOf(StartsWith("unauthenticated: "), HasSubstr("the clock of this machine says")));
  EXPECT_LT(now() - start, Seconds{3});
  EXPECT_EQ(channel(server).call("echo", "x", kPatience), "0:x");
}

grpc_connectivity_state state_after(const std::shared_ptr<grpc::ChannelCredentials>& credentials, const std::string& address) {
  const auto channel = grpc::CreateChannel(address, credentials);
  channel->GetState(true);
  channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  return channel->GetState(false);
}

TEST_F(ServerTest, PlaintextAndGarbageGetNowhere) {
  const Server server(options());
  EXPECT_NE(state_after(grpc::InsecureChannelCredentials(), address(server)), GRPC_CHANNEL_READY);
  for (const std::string& garbage : {std::string(), std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\x17')}) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{.sin_family = AF_INET,
                   .sin_port = htons(static_cast<std::uint16_t>(server.port())),
                   .sin_addr = {htonl(INADDR_LOOPBACK)},
                   .sin_zero = {}};
    ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    (void)::send(socket, garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(socket);
  }
  EXPECT_EQ(channel(server).call("echo", "x", kPatience), "0:x");
}

TEST_F(ServerTest, StrangersAreToldWithTheirAddressAndMembersAreNot) {
  std::mutex mutex;
  std::vector<std::string> lines;
  Server::Options reporting = options();
  reporting.report_stranger = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  };
  const Server server(reporting);
  Channel member = channel(server);
  const Credentials other = Authority::create().issue({.role = "node", .name = "0"}, {}, kHour);
  EXPECT_THAT(connection_error(server, other), StartsWith("unauthenticated: "));
  const auto reported = [&] {
    const std::lock_guard lock(mutex);
    return lines;
  };
  for (const Seconds end = now() + kPatience; reported().empty() && now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_THAT(reported(), testing::Contains(testing::AllOf(StartsWith("127.0.0.1:"), HasSubstr("did not show a certificate of this job"))));
  EXPECT_LE(reported().size(), 2U);
  EXPECT_EQ(member.call("echo", "x", kPatience), "0:x");
}

TEST_F(ServerTest, AClientWithoutACertificateIsRefused) {
  const Server server(options());
  grpc::SslCredentialsOptions nameless;
  nameless.pem_root_certs = authority_.certificate();
  const auto stranger = grpc::CreateChannel(address(server), grpc::SslCredentials(nameless));
  grpc::GenericStub stub(stranger);
  std::promise<grpc::Status> answer;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  grpc::ByteBuffer request(nullptr, 0);
  grpc::ByteBuffer response;
  stub.UnaryCall(&context, "/trireme/echo", {}, &request, &response, [&](const grpc::Status& status) { answer.set_value(status); });
  EXPECT_EQ(answer.get_future().get().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(thrown_error([&] { Channel::connect(address(server), {.authority = authority_.certificate()}, kPatience); }),
              StartsWith("unauthenticated: "));
  EXPECT_EQ(channel(server).call("echo", "x", kPatience), "0:x");
}

TEST_F(ServerTest, ANodeCantPlayTheCoordinator) {
  Server::Options fake = options();
  fake.credentials = credentials("guest");
  EXPECT_THAT(thrown_error([&] { Server{fake}; }), HasSubstr("needs a coordinator's or a node's certificate"));
  fake.credentials = credentials("node");
  const Server node(fake);
  EXPECT_THAT(connection_error(node, credentials("node")), HasSubstr("is not this job's coordinator"));

  // The same for one that doesn't use our server.
  grpc::SslServerCredentialsOptions tls(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  tls.pem_key_cert_pairs = {{.private_key = fake.credentials.key, .cert_chain = fake.credentials.certificate}};
  grpc::CallbackGenericService service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(tls), &port).RegisterCallbackGenericService(&service);
  const auto impostor = builder.BuildAndStart();
  EXPECT_THAT(thrown_error([&] { Channel::connect(join_host_port("127.0.0.1", port), credentials("node"), kPatience); }),
              testing::AllOf(StartsWith("unauthenticated: "), HasSubstr("is not this job's coordinator")));
}

TEST_F(ServerTest, ListensOnlyWhereItIsTold) {
  Server::Options anywhere = options();
  for (const std::string address : {"0.0.0.0", "::"}) {
    anywhere.addresses = {address};
    EXPECT_THAT(thrown_error([&] { Server{anywhere}; }), HasSubstr("every network of this machine"));
  }
  const Server first(options());
  Server::Options again = options();
  again.port = first.port();
  EXPECT_THAT(thrown_error([&] { Server{again}; }), StartsWith(fmt::format("unavailable: cannot listen on port {}", first.port())));
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
