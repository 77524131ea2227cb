// SPDX-License-Identifier: Apache-2.0
// Tests of streams for much data over loopback.
#include "trireme/rpc/bulk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "trireme/base/host.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/bulk_pair.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/server.h"
#include "trireme/rpc/testing/bulk_diary.h"
#include "trireme/rpc/testing/child_process.h"

namespace trireme::rpc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Seconds kPatience{20};
constexpr Seconds kHour{3600};
constexpr std::string_view kSecret = "a secret of a job in a file";

Credentials credentials(const std::string& role, const std::string& name) {
  return Authority::from_secret(kSecret).issue({.role = role, .name = name}, {"127.0.0.1"}, kHour);
}

bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 2000 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return what();
}

// Both ends of a stream "bulk", node 3 being the server.
class BulkTest : public testing::Test {
 protected:
  Server::Options options() {
    return {.addresses = {"127.0.0.1"},
            .credentials = credentials("node", "3"),
            .bulk_streams = {{.name = "bulk", .roles = {"node"}, .opened = [this](const Peer& peer, std::shared_ptr<BulkSession> session) {
                                if (peer.identity.name == "unloved") throw Error{already_exists, "go away"};
                                opened_.set_value(std::move(session));
                                return far_listener_;
                              }}}};
  }
  static Channel channel(const Server& server, const std::string& name = "5", const std::string& whom = "3") {
    return Channel::connect(join_host_port("127.0.0.1", server.port()), credentials("node", name), kPatience,
                            {.role = "node", .name = whom});
  }
  std::shared_ptr<BulkSession> far() { return opened_.get_future().get(); }

  Bodies bodies_;
  Diary here_, there_;
  BulkListener far_listener_ = there_.listener();
  std::promise<std::shared_ptr<BulkSession>> opened_;
};

TEST_F(BulkTest, MessagesOfEverySizeArriveWholeBothWays) {
  const Server server(options());
  Channel node = channel(server);
  const auto near = node.open_bulk("bulk", here_.listener());
  const auto far = this->far();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}, kMaxMessageBytes - 8}) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(near->send(bodies_.make(size, 'a')));
      EXPECT_TRUE(far->send(bodies_.make(size, 'b')));
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(there_.next(), "head" + std::string(size, 'a'));
      EXPECT_EQ(here_.next(), "head" + std::string(size, 'b'));
    }
  }
  EXPECT_TRUE(near->send(text("")));
  EXPECT_EQ(there_.next(), "");
  near->close(Error{ok, "done"});
  EXPECT_EQ(there_.next(), "closed: ok: closed");
  EXPECT_EQ(here_.next(), "closed: ok: closed");
  EXPECT_EQ(bodies_.left(), 0);
  EXPECT_FALSE(near->send(text("late")));
  EXPECT_FALSE(far->send(text("late")));
}

// Nodes may be threads of one process.
TEST_F(BulkTest, EachEndCountsItsOwnTraffic) {
  const auto near_traffic = std::make_shared<TrafficCounter>();
  const auto far_traffic = std::make_shared<TrafficCounter>();
  Server::Options with = options();
  with.bulk_streams.front().traffic = far_traffic;
  const Server server(with);
  Channel node = channel(server);
  node.open_bulk("bulk", here_.listener(), near_traffic)->send(bodies_.make(1000, 'a'));
  ASSERT_EQ(there_.next(), "head" + std::string(1000, 'a'));
  constexpr std::int64_t kBytes = 4 + 4 + 1000;  // length, head, body
  EXPECT_EQ(near_traffic->total().sent, kBytes);
  EXPECT_EQ(near_traffic->total().received, 0);
  EXPECT_EQ(far_traffic->total().sent, 0);
  EXPECT_EQ(far_traffic->total().received, kBytes);
}

TEST_F(BulkTest, AMessageGivesOnlyWhatItHas) {
  std::promise<std::vector<std::string>> found;
  far_listener_.received = [&](const Incoming& message) {
    std::string middle(5, '-');
    message.copy(2, std::as_writable_bytes(std::span(middle)));
    std::string none;
    message.copy(8, std::as_writable_bytes(std::span(none)));
    const auto beyond = [&](std::size_t offset) {
      return thrown_error([&] { message.copy(offset, std::as_writable_bytes(std::span(middle))); });
    };
    found.set_value({middle, beyond(4), beyond(9), beyond(std::string::npos)});
  };
  const auto check = [&] {
    EXPECT_THAT(found.get_future().get(),
                ElementsAre("adxxx", StartsWith("data_loss: "), StartsWith("data_loss: "), StartsWith("data_loss: ")));
  };
  const Server server(options());
  Channel node = channel(server);
  node.open_bulk("bulk", here_.listener())->send(bodies_.make(4, 'x'));
  check();
  found = {};
  bulk_pair(here_.listener(), [&](auto) { return far_listener_; })->send(bodies_.make(4, 'x'));
  check();
}

TEST_F(BulkTest, MuchMoreThanFitsOnTheWayArrives) {
  std::atomic<std::size_t> near_got = 0;
  std::atomic<std::size_t> far_got = 0;
  far_listener_.received = [&](const Incoming& message) { far_got += message.size(); };
  const Server server(options());
  Channel node = channel(server);
  const auto near =
      node.open_bulk("bulk", {.received = [&](const Incoming& message) { near_got += message.size(); }, .closed = [](const Error&) {}});
  const auto far = this->far();
  const std::string memory(1 << 20, 'x');
  const std::size_t total = 300 * (memory.size() + 1);
  for (int i = 0; i < 300; ++i)
    for (const auto& end : {near, far}) ASSERT_TRUE(end->send({.head = "h", .body = std::as_bytes(std::span(memory))}));
  EXPECT_TRUE(comes_true([&] { return near_got == total && far_got == total; }));
}

TEST_F(BulkTest, TheMostUrgentOfThoseThatWaitGoesFirst) {
  std::promise<void> go;
  far_listener_.received = [&, wait = go.get_future().share(), started = false](const Incoming& message) mutable {
    if (!started) wait.wait_for(kPatience);
    started = true;
    if (message.size() < 100) there_.write(text_of(message));
  };
  const Server server(options());
  Channel node = channel(server);
  const auto near = node.open_bulk("bulk", here_.listener());
  // More than connections hold, so that the small ones wait here.
  for (int i = 0; i < 32; ++i) near->send(bodies_.make(kMaxMessageBytes - 8, 'x'));
  near->send(text("first of the usual"));
  near->send(text("urgent", 2));
  near->send(text("can wait", -1));
  near->send(text("second of the usual"));
  near->send(text("most urgent", 7));
  go.set_value();
  for (const std::string line : {"most urgent", "urgent", "first of the usual", "second of the usual", "can wait"})
    EXPECT_EQ(there_.next(), line);
}

TEST_F(BulkTest, ALaterOrderlyEndComesAfterWhatWaits) {
  const Server server(options());
  Channel node = channel(server);
  const auto near = node.open_bulk("bulk", here_.listener());
  const auto far = this->far();
  for (int i = 0; i < 20; ++i) far->send(bodies_.make(1 << 20, 'x'));
  far->close(Error{ok, "done"});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(here_.next().size(), (1 << 20) + 4);
  EXPECT_EQ(here_.next(), "closed: ok: closed");
  EXPECT_EQ(there_.next(), "closed: ok: done");
  EXPECT_EQ(bodies_.left(), 0);
}

TEST_F(BulkTest, AnErrorEndsItAtOnceAndLetsGoOfWhatWaits) {
  for (const bool near_closes : {true, false}) {
    SCOPED_TRACE(near_closes);
    opened_ = {};
    const Server server(options());
    Channel node = channel(server);
    const auto near = node.open_bulk("bulk", here_.listener());
    const auto far = this->far();
    for (int i = 0; i < 100; ++i)
      for (const auto& end : {near, far}) end->send(bodies_.make(1 << 20, 'x'));
    (near_closes ? near : far)->close(Error{aborted, "enough"});
    (near_closes ? near : far)->close(Error{aborted, "again"});
    const auto last_of = [](Diary& diary) {
      std::string line = diary.next();
      while (line.starts_with("head")) line = diary.next();
      return line;
    };
    EXPECT_EQ(last_of(here_), "closed: aborted: enough");
    EXPECT_EQ(last_of(there_), near_closes ? "closed: unavailable: connection closed" : "closed: aborted: enough");
    EXPECT_EQ(bodies_.left(), 0);
    EXPECT_FALSE(near->send(bodies_.make(1, 'x')));
    EXPECT_FALSE(far->send(bodies_.make(1, 'x')));
    EXPECT_THAT(here_.rest(), ElementsAre());
    EXPECT_THAT(there_.rest(), ElementsAre());
  }
}

TEST_F(BulkTest, AnErrorOfAListenerClosesTheStream) {
  far_listener_.received = [](const Incoming&) { throw Error{data_loss, "nonsense"}; };
  const Server server(options());
  Channel node = channel(server);
  node.open_bulk("bulk", here_.listener())->send(text("x"));
  EXPECT_EQ(here_.next(), "closed: data_loss: nonsense");
  EXPECT_EQ(there_.next(), "closed: data_loss: nonsense");
  Channel unloved = channel(server, "unloved");
  unloved.open_bulk("bulk", here_.listener());
  EXPECT_EQ(here_.next(), "closed: already_exists: go away");
}

TEST_F(BulkTest, TooLongMessagesCloseTheStream) {
  const Server server(options());
  Channel node = channel(server);
  const auto near = node.open_bulk("bulk", here_.listener());
  EXPECT_FALSE(near->send(bodies_.make(kMaxMessageBytes, 'x')));
  EXPECT_THAT(here_.next(), StartsWith("closed: resource_exhausted: a message has"));
}

TEST_F(BulkTest, ListenersMaySendFromWithin) {
  std::promise<std::shared_ptr<BulkSession>> opened;
  const auto far_session = opened.get_future().share();
  far_listener_.received = [&](const Incoming& message) { far_session.get()->send(text(text_of(message))); };
  Server::Options with = options();
  with.bulk_streams.front().opened = [&](const Peer&, std::shared_ptr<BulkSession> session) {
    opened.set_value(std::move(session));
    return far_listener_;
  };
  const Server server(with);
  Channel node = channel(server);
  std::promise<std::shared_ptr<BulkSession>> mine;
  const auto near_session = mine.get_future().share();
  BulkListener counting = here_.listener();
  counting.received = [&](const Incoming& message) {
    const int number = std::stoi(text_of(message));
    if (number == 1000) return here_.write("done");
    near_session.get()->send(text(std::to_string(number + 1)));
  };
  mine.set_value(node.open_bulk("bulk", counting));
  near_session.get()->send(text("0"));
  EXPECT_EQ(here_.next(), "done");
}

TEST_F(BulkTest, StreamsAreServedAtTheSameTime) {
  std::latch both{2};
  Server::Options with = options();
  with.bulk_streams.front().opened = [&](const Peer&, const std::shared_ptr<BulkSession>&) {
    return BulkListener{.received =
                            [&](const Incoming&) {
                              both.count_down();
                              for (int i = 0; i < 1000 && !both.try_wait(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
                              there_.write(both.try_wait() ? "met" : "alone");
                            },
                        .closed = [](const Error&) {}};
  };
  const Server server(with);
  Channel first = channel(server, "0");
  Channel second = channel(server, "1");
  first.open_bulk("bulk", here_.listener())->send(text("x"));
  second.open_bulk("bulk", here_.listener())->send(text("x"));
  EXPECT_EQ(there_.next(), "met");
  EXPECT_EQ(there_.next(), "met");
}

TEST_F(BulkTest, TheOtherSideMustBeWhomOneWants) {
  const Server server(options());
  EXPECT_THAT(thrown_error([&] { channel(server, "5", "4"); }),
              testing::AllOf(StartsWith("unauthenticated: "), HasSubstr("is not this job's node 4"), HasSubstr("node 3, not node 4")));
  EXPECT_THAT(thrown_error([&] { Channel::connect(join_host_port("127.0.0.1", server.port()), credentials("node", "5"), kPatience); }),
              HasSubstr("is not this job's coordinator"));
  const Channel anybody = channel(server, "5", "");
}

TEST_F(BulkTest, RolesAreChecked) {
  const Server server(options());
  Channel coordinator = Channel::connect(join_host_port("127.0.0.1", server.port()), credentials("coordinator", "0"), kPatience,
                                         {.role = "node", .name = "3"});
  coordinator.open_bulk("bulk", here_.listener());
  EXPECT_THAT(here_.next(), StartsWith("closed: permission_denied"));
}

TEST_F(BulkTest, TheEndOfAServerOrAChannelClosesItsStreams) {
  auto server = std::make_unique<Server>(options());
  {
    Channel node = channel(*server);
    const auto near = node.open_bulk("bulk", here_.listener());
    const auto far = this->far();
    for (int i = 0; i < 100; ++i)
      for (const auto& end : {near, far}) end->send(bodies_.make(1 << 20, 'x'));
  }
  EXPECT_TRUE(here_.rest().back().starts_with("closed: "));
  server.reset();
  EXPECT_TRUE(there_.rest().back().starts_with("closed: "));
  EXPECT_EQ(bodies_.left(), 0);
}

// Run by the test below, in a process of its own: opens a stream, takes nothing, and waits to be killed.
TEST(BulkChild, DISABLED_Talks) {
  Channel channel = Channel::connect(ChildProcess::input(), credentials("node", "child"), kPatience, {.role = "node", .name = "3"});
  const auto session = channel.open_bulk("bulk", {.received = [](const Incoming&) { ::sleep(20); }, .closed = [](const Error&) {}});
  session->send(text("here"));
  ::sleep(20);
}

TEST_F(BulkTest, AKilledPeerIsNoticedAndBodiesComeBack) {
  const Server server(options());
  const ChildProcess child("BulkChild.DISABLED_Talks", join_host_port("127.0.0.1", server.port()));
  ASSERT_EQ(there_.next(), "here");
  const auto far = this->far();
  for (int i = 0; i < 100; ++i) far->send(bodies_.make(1 << 20, 'x'));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_GT(bodies_.left(), 0);
  child.signal(SIGKILL);
  EXPECT_EQ(there_.next(), "closed: unavailable: connection closed");
  EXPECT_EQ(bodies_.left(), 0);
  EXPECT_FALSE(far->send(text("late")));
}

TEST_F(BulkTest, AServerEndsThoughAStoppedPeerTakesNothing) {
  auto server = std::make_unique<Server>(options());
  const ChildProcess child("BulkChild.DISABLED_Talks", join_host_port("127.0.0.1", server->port()));
  ASSERT_EQ(there_.next(), "here");
  const auto far = this->far();
  child.signal(SIGSTOP);
  for (int i = 0; i < 100; ++i) far->send(bodies_.make(1 << 20, 'x'));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  server.reset();
  EXPECT_THAT(there_.next(), StartsWith("closed: "));
  EXPECT_EQ(bodies_.left(), 0);
}

TEST_F(BulkTest, WithoutTlsOnlyOnLoopback) {
  Server::Options plain = options();
  plain.credentials = {};
  EXPECT_THAT(thrown_error([&] { Server{plain}; }), HasSubstr("cannot read a certificate"));
  plain.plain_loopback = true;
  plain.addresses = {"127.0.0.1", "192.0.2.1"};
  EXPECT_THAT(thrown_error([&] { Server{plain}; }), HasSubstr("only on addresses of loopback"));
  for (const std::string address : {"192.0.2.1:4711", "localhost:4711", "[2001:db8::1]:4711", "127.0.0.1.example:1"})
    EXPECT_THAT(thrown_error([&] { Channel::connect_plain(address, Seconds{0.1}); }), StartsWith("invalid_argument: ")) << address;

  plain.addresses = {"127.0.0.1"};
  const Server server(plain);
  const std::string address = join_host_port("127.0.0.1", server.port());
  Channel node = Channel::connect_plain(address, kPatience);
  node.open_bulk("bulk", here_.listener())->send(text("x"));
  EXPECT_EQ(there_.next(), "x");
  // No peer connects to it by mistake.
  EXPECT_NE(thrown_error([&] { Channel::connect(address, credentials("node", "5"), Seconds{0.5}, {.role = "node", .name = ""}); }),
            "no error");
}

}  // namespace
}  // namespace trireme::rpc
