// SPDX-License-Identifier: Apache-2.0
// A node with a good certificate that means ill: what it sends costs the coordinator little memory and the other nodes little time.
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/host.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/grpc_bytes.h"
#include "trireme/rpc/server.h"
#include "trireme/rpc/testing/child_process.h"

namespace trireme::rpc {
namespace {

constexpr std::string_view kSecret = "a secret of a job in a file";
constexpr Seconds kPatience{20};
constexpr std::int64_t kMegabyte = 1 << 20;
constexpr std::int64_t kMemory = 48 * kMegabyte;  // that the server may use for what is on its way
constexpr std::int64_t kMaxGrowth = kMemory + 64 * kMegabyte;

Credentials credentials(const std::string& role) {
  return Authority::from_secret(kSecret).issue({.role = role, .name = "0"}, {"127.0.0.1"}, Seconds{3600});
}

// Run by the tests below in a process of its own, so that its memory can be measured; ends with its parent.
TEST(LimitsChild, DISABLED_Serves) {
  const std::string port = ChildProcess::input();
  const Server server(
      {.addresses = {"127.0.0.1"},
       .port = std::stoi(port),
       .credentials = credentials("coordinator"),
       .methods = {{.name = "echo", .roles = {"node"}, .handler = [](const Peer&, const std::string& bytes) { return bytes; }}},
       .streams = {{.name = "talk",
                    .roles = {"node"},
                    .opened =
                        [](const Peer&, const std::shared_ptr<Session>&) {
                          return SessionListener{.received = [](const std::string&) {}, .closed = [](const Error&) {}};
                        }}},
       .memory = kMemory});
  ChildProcess::say('+');
  std::this_thread::sleep_for(std::chrono::seconds(60));
}

int free_port() { return Server({.addresses = {"127.0.0.1"}, .credentials = credentials("coordinator")}).port(); }

class Limits : public testing::Test {
 protected:
  Limits() {
    EXPECT_EQ(child_.await_answer(), '+');
    Channel::connect(address(), credentials("node"), kPatience).call("echo", std::string(kMaxMessageBytes, 'x'), kPatience);
    before_ = memory();
  }

  std::string address() const { return join_host_port("127.0.0.1", port_); }

  std::int64_t memory() const {
    const std::string status = read_file(fmt::format("/proc/{}/status", child_.pid()));
    return std::stoll(status.substr(status.find("VmHWM:") + 6)) * 1024;
  }
  void expect_little_growth() {
    const std::int64_t growth = memory() - before_;
    RecordProperty("growth_mb", static_cast<int>(growth / kMegabyte));
#ifndef TRIREME_SANITIZED  // a sanitizer's shadow of the memory counts too
    EXPECT_LE(growth, kMaxGrowth) << growth / kMegabyte << " MB";
#endif
  }

  // gRPC's own client, without our limits.
  std::shared_ptr<grpc::Channel> lawless() const {
    const Credentials node = credentials("node");
    grpc::ChannelArguments settings;
    settings.SetMaxSendMessageSize(-1);
    settings.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 1 << 30);
    settings.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(
        address(),
        grpc::SslCredentials({.pem_root_certs = node.authority, .pem_private_key = node.key, .pem_cert_chain = node.certificate}),
        settings);
  }

  static grpc::StatusCode call(const std::shared_ptr<grpc::Channel>& channel, grpc::ClientContext& context, std::string bytes) {
    grpc::GenericStub stub(channel);
    context.set_deadline(deadline_in(kPatience));
    grpc::ByteBuffer request = buffer_of(std::move(bytes));
    grpc::ByteBuffer response;
    std::promise<grpc::Status> answer;
    stub.UnaryCall(&context, "/trireme/echo", {}, &request, &response, [&](const grpc::Status& status) { answer.set_value(status); });
    return answer.get_future().get().error_code();
  }

  // Milliseconds that 99 of 100 small calls take at most.
  double p99(int calls) const {
    Channel channel = Channel::connect(address(), credentials("node"), kPatience);
    std::vector<double> times;
    for (int i = 0; i < calls; ++i) {
      const Seconds start = SteadyClock().now();
      channel.call("echo", "x", kPatience);
      times.push_back((SteadyClock().now() - start).count() * 1000);
    }
    std::ranges::sort(times);
    return times[times.size() * 99 / 100];
  }

  const int port_ = free_port();
  const ChildProcess child_{"LimitsChild.DISABLED_Serves", std::to_string(port_)};
  std::int64_t before_ = 0;
};

// gRPC 1.51 looks at the length of a message only when it has all of it: what bounds that is the server's memory.
TEST_F(Limits, AnOversizeMessageIsRefused) {
  grpc::ClientContext context;
  EXPECT_NE(call(lawless(), context, std::string(256 * kMegabyte, 'x')), grpc::StatusCode::OK);
  grpc::ClientContext a_byte_more;
  EXPECT_EQ(call(lawless(), a_byte_more, std::string(kMaxMessageBytes + 1, 'x')), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_GT(p99(10), 0);  // others are still answered
  expect_little_growth();
}

TEST_F(Limits, ACompressedBombIsNotUnpacked) {
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  EXPECT_EQ(call(lawless(), context, std::string(128 * kMegabyte, '\0')), grpc::StatusCode::UNIMPLEMENTED);
  expect_little_growth();
}

// It is not refused by its length either, but read to its end first, in a time that grows with the square of its length.
TEST_F(Limits, LongMetadataAreRefused) {
  grpc::ClientContext context;
  context.AddMetadata("x-long", std::string(2 * kMegabyte, 'x'));
  EXPECT_NE(call(lawless(), context, "x"), grpc::StatusCode::OK);
  EXPECT_GT(p99(10), 0);
  expect_little_growth();
}

TEST_F(Limits, AFloodOfTinyMessagesLeavesOthersTheirTurn) {
  const double quiet = p99(300);
  std::atomic<bool> enough{false};
  std::atomic<int> sent{0};
  std::thread flood([&] {
    Channel channel = Channel::connect(address(), credentials("node"), kPatience);
    const auto session = channel.open_session("talk", {.received = [](const std::string&) {}, .closed = [](const Error&) {}});
    // A queue that is full cuts the sender off; so it pauses.
    for (int i = 0; i < 1'000'000 && !enough; ++i) {
      sent += session->send("x") ? 1 : 0;
      if (i % 1000 == 999) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const double busy = p99(300);
  enough = true;
  flood.join();
  RecordProperty("sent", sent.load());
  RecordProperty("p99_us_quiet", static_cast<int>(quiet * 1000));
  RecordProperty("p99_us_flooded", static_cast<int>(busy * 1000));
  EXPECT_LT(busy, std::max(50.0, 20 * quiet)) << "ms; " << quiet << " ms without the flood";
  expect_little_growth();
}

TEST_F(Limits, HeldConnectionsAreLetGo) {
  const auto descriptors = [&] {
    return std::distance(std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", child_.pid())),
                         std::filesystem::directory_iterator());
  };
  const auto before = descriptors();
  std::vector<int> held;
  for (int i = 0; i < 300; ++i) {
    held.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{
        .sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(port_)), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    ASSERT_EQ(::connect(held.back(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  EXPECT_GT(p99(10), 0);
  const Seconds end = SteadyClock().now() + Seconds{15};
  while (descriptors() > before + 5 && SteadyClock().now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(descriptors(), before + 5) << "they are held open by their makers, but not here";
  for (const int socket : held) ::close(socket);
}

}  // namespace
}  // namespace trireme::rpc
