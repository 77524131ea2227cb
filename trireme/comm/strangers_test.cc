// SPDX-License-Identifier: Apache-2.0
// Strangers at the rendezvous: no matter who connects first, the members still find each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/comm/communicator.h"
#include "trireme/comm/proof.h"
#include "trireme/comm/socket.h"

namespace trireme::comm {
namespace {

using testing::StartsWith;

constexpr Seconds kTimeout{20};

Group group_of(int rank, int size, std::string key = "the job's key") {
  return {.rank = rank, .size = size, .generation = 1, .address = "127.0.0.1", .key = std::move(key)};
}

// Lets a stranger connect to each member before any other member can know its address.
class WatchedStore final : public Store {
 public:
  explicit WatchedStore(std::function<void(const std::string& endpoint)> stranger) : stranger_(std::move(stranger)) {}

  void set(const std::string& key, const std::string& value) override {
    stranger_(value);
    store_.set(key, value);
  }
  std::string get(const std::string& key, Seconds timeout) override { return store_.get(key, timeout); }

 private:
  std::function<void(const std::string&)> stranger_;
  MemoryStore store_;
};

// All three come up and can sum, and quickly.
void expect_group_in(Store& store) {
  const auto start = SteadyClock{}.now();
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&store, rank] {
        auto communicator = Communicator::connect(store, group_of(rank, 3), kTimeout);
        std::vector<float> values{1};
        communicator.all_reduce(values, {}, kTimeout);
        EXPECT_EQ(values[0], 3);
      });
    }
  }
  EXPECT_LT((SteadyClock{}.now() - start).count(), 3);
}

// Keeps what it opened until the test ends; members set their keys from several threads.
class Strangers {
 public:
  const Socket& connect(const std::string& endpoint) {
    const std::lock_guard lock(mutex_);
    sockets_.push_back(std::make_unique<Socket>(connect_to(endpoint, Deadline(kTimeout))));
    return *sockets_.back();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Socket>> sockets_;
};

TEST(Strangers, ASilentOneChangesNothing) {
  Strangers strangers;
  WatchedStore store([&](const std::string& endpoint) { strangers.connect(endpoint); });
  expect_group_in(store);
}

TEST(Strangers, OneThatClosesAtOnceChangesNothing) {
  WatchedStore store([](const std::string& endpoint) { connect_to(endpoint, Deadline(kTimeout)); });
  expect_group_in(store);
}

TEST(Strangers, OneThatSendsAnythingChangesNothing) {
  Strangers strangers;
  const std::vector<std::string> texts{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", std::string(64, '\0'), std::string(100000, 'x'),
                                       "trireme3" + std::string(200, '\xff')};
  WatchedStore store([&](const std::string& endpoint) {
    for (const auto& text : texts) {
      // The member may have sent it away before it has said everything.
      thrown_error([&] { send_exactly(strangers.connect(endpoint), text, Deadline(Seconds{0.1})); });
    }
  });
  expect_group_in(store);
}

TEST(Strangers, ManyChangeNothing) {
  Strangers strangers;
  WatchedStore store([&](const std::string& endpoint) {
    for (int i = 0; i < 100; ++i) strangers.connect(endpoint);
  });
  expect_group_in(store);
}

// It speaks the protocol, says it is a member, and does not know the key.
TEST(Strangers, AForgerIsSentAwayAndTheMemberStillComes) {
  std::mutex mutex;
  std::vector<std::jthread> forgers;
  WatchedStore store([&](const std::string& endpoint) {
    const std::lock_guard lock(mutex);
    forgers.emplace_back([endpoint] {
      const std::string said = thrown_error([&] {
        const Socket socket = connect_to(endpoint, Deadline(kTimeout));
        prove_to_host(socket, group_of(2, 3, "a guess"), 0, Deadline(kTimeout));
      });
      EXPECT_NE(said, "no error");
    });
  });
  expect_group_in(store);
}

// However many come, one line per second reports them, with an address and without a secret.
TEST(Strangers, AreReported) {
  Strangers strangers;
  MemoryStore store;
  std::vector<std::string> lines;
  Group host = group_of(0, 2);
  host.report_stranger = [&](const std::string& line) { lines.push_back(line); };
  std::jthread member([&] {
    const std::string endpoint = store.get("comm/1//0", kTimeout);
    for (int i = 0; i < 20; ++i) send_exactly(strangers.connect(endpoint), std::string(100, 'x'), Deadline(kTimeout));
    thrown_error([&] { prove_to_host(connect_to(endpoint, Deadline(kTimeout)), group_of(1, 2, "a guess"), 0, Deadline(kTimeout)); });
    Communicator::connect(store, group_of(1, 2), kTimeout);
  });
  Communicator::connect(store, host, kTimeout);
  ASSERT_THAT(lines, testing::SizeIs(2));  // the first, and how many more there were
  EXPECT_THAT(lines[0], testing::AllOf(StartsWith("127.0.0.1 "), testing::HasSubstr("sent away: it is no member")));
  EXPECT_EQ(lines[1], "(20 more like that)");
}

// The same, but the true member never comes: the members report the attempt.
TEST(Strangers, AForgerIsReported) {
  std::jthread forger;
  WatchedStore store([&](const std::string& endpoint) {
    forger = std::jthread([endpoint] {
      thrown_error([&] { prove_to_host(connect_to(endpoint, Deadline(kTimeout)), group_of(1, 2, "a guess"), 0, Deadline(kTimeout)); });
    });
  });
  const std::string error = thrown_error([&] { Communicator::connect(store, group_of(0, 2), Seconds{0.5}); });
  EXPECT_THAT(error, StartsWith("unauthenticated: "));
}

// An attacker who has overheard a member's hello can repeat it, but the host's nonce is new, so the overheard proof is worth nothing.
TEST(Strangers, AReplayedConversationIsRefused) {
  const Socket listener = listen_on("127.0.0.1");
  const Group host = group_of(0, 2);
  const auto visit = [&](const std::function<void(const Socket&)>& say) {
    const Socket caller = connect_to(endpoint_of(listener), Deadline(kTimeout));
    Visitor visitor(accept_from(listener), host, Deadline(kTimeout));
    const std::jthread talk([&] { say(caller); });
    while (!visitor.advance()) std::this_thread::yield();
  };
  visit([](const Socket& caller) { prove_to_host(caller, group_of(1, 2), 0, Deadline(kTimeout)); });
  const std::string captured = "trireme3" + std::string("\1\0\0\0\0\0\0\0\1\0\0\0", 12) + std::string(32, 'n') + std::string(32, 'p');
  const std::string error = thrown_error([&] { visit([&](const Socket& caller) { send_exactly(caller, captured, Deadline(kTimeout)); }); });
  EXPECT_THAT(error, StartsWith("unauthenticated: "));
}

TEST(Strangers, NothingListensOnceAllHaveCome) {
  std::mutex mutex;
  std::string endpoint_of_first;
  WatchedStore store([&](const std::string& endpoint) {
    const std::lock_guard lock(mutex);
    if (endpoint_of_first.empty()) endpoint_of_first = endpoint;
  });
  std::vector<Communicator> members;
  std::jthread other([&] { members.push_back(Communicator::connect(store, group_of(1, 2), kTimeout)); });
  const Communicator first = Communicator::connect(store, group_of(0, 2), kTimeout);
  other.join();
  EXPECT_THAT(thrown_error([&] { connect_to(endpoint_of_first, Deadline(kTimeout)); }), StartsWith("unavailable: "));
}

}  // namespace
}  // namespace trireme::comm
