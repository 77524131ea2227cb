// SPDX-License-Identifier: Apache-2.0
// Tests of what a server does with callers that do not belong to the job.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mutex>
#include <thread>

#include "trireme/rpc/server.h"
#include "trireme/rpc/testing/server_fixture.h"

namespace trireme::rpc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

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
  EXPECT_LT(now() - start, kPatience) << "refused, not given up";
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

TEST_F(ServerTest, StrangersAreReportedWithTheirAddressAndMembersAreNot) {
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

TEST_F(ServerTest, ListensOnlyWhereConfigured) {
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

}  // namespace
}  // namespace trireme::rpc
