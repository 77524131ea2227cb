// SPDX-License-Identifier: Apache-2.0
// What an attacker on the path between two members can read and do, with and without encryption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/comm/communicator.h"
#include "trireme/comm/proof.h"
#include "trireme/comm/testing/relay.h"

namespace trireme::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr Seconds kTimeout{20};

Group group_of(int rank, int size, Encryption encryption) {
  return {.rank = rank, .size = size, .generation = 1, .address = "127.0.0.1", .key = "the job's key", .encryption = encryption};
}

// Where every member is found behind a relay of its own.
class RelayedStore final : public Store {
 public:
  explicit RelayedStore(Relay::Options options = {}) : options_(options) {}

  void set(const std::string& key, const std::string& value) override {
    auto relay = std::make_unique<Relay>(value, options_);
    store_.set(key, relay->endpoint());
    const std::lock_guard lock(mutex_);
    relays_.push_back(std::move(relay));
  }
  std::string get(const std::string& key, Seconds timeout) override { return store_.get(key, timeout); }
  std::string captured() const {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const auto& relay : relays_) all += relay->captured();
    return all;
  }

 private:
  Relay::Options options_;
  MemoryStore store_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Relay>> relays_;
};

void in_threads(int size, const std::function<void(int rank)>& member) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&, rank] { member(rank); });
}

// Four floats that no other traffic has.
const std::vector<float> kCanary{3.14159265F, -2.71828183F, 1.41421356F, -0.57721566F};
const std::string kCanaryBytes(reinterpret_cast<const char*>(kCanary.data()), kCanary.size() * sizeof(float));

std::vector<float> gradients(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = rank == 0 ? kCanary[i % kCanary.size()] : std::sin(static_cast<float>(i));
  return values;
}

// What was on the wire while two members summed.
std::string captured(Encryption encryption) {
  RelayedStore store;
  in_threads(2, [&](int rank) {
    auto communicator = Communicator::connect(store, group_of(rank, 2, encryption), kTimeout);
    for (const std::size_t count : {std::size_t{8}, std::size_t{100000}}) {
      std::vector<float> values = gradients(rank, count);
      communicator.all_reduce(values, {}, kTimeout);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], gradients(0, 4)[i % 4] + std::sin(static_cast<float>(i)));
    }
    std::vector<float> state = gradients(0, 50000);
    communicator.broadcast(std::as_writable_bytes(std::span(state)), 0, kTimeout);
  });
  return store.captured();
}

TEST(Encryption, GradientsAreNotOnTheWireInClear) {
  const std::string wire = captured(Encryption::always);
  ASSERT_GT(wire.size(), sizeof(float) * 2 * 50000);
  EXPECT_EQ(wire.find(kCanaryBytes), std::string::npos);
  // Nor one value of them more often than chance has it.
  std::size_t count = 0;
  for (std::size_t at = wire.find(kCanaryBytes.substr(0, 4)); at != std::string::npos; at = wire.find(kCanaryBytes.substr(0, 4), at + 1))
    ++count;
  EXPECT_LE(count, 1U);
}

TEST(Encryption, WithoutItTheyAre) { EXPECT_NE(captured(Encryption::never).find(kCanaryBytes), std::string::npos); }

TEST(Encryption, OnThisMachineMessagesAreOnlySealed) {
  EXPECT_NE(captured(Encryption::between_machines).find(kCanaryBytes), std::string::npos);
}

TEST(Encryption, IsBetweenMachinesWhenAddressesCanBeOnANetwork) {
  EXPECT_TRUE(are_on_one_machine("127.0.0.1 4000", "127.0.0.2 5000"));
  EXPECT_TRUE(are_on_one_machine("::1 4000", "::1 5000"));
  EXPECT_TRUE(are_on_one_machine("10.0.0.1 4000", "10.0.0.1 5000"));
  EXPECT_FALSE(are_on_one_machine("10.0.0.1 4000", "10.0.0.2 4000"));
  EXPECT_FALSE(are_on_one_machine("10.0.0.1 4000", "10.0.0.11 4000"));
  EXPECT_FALSE(are_on_one_machine("127.0.0.1 4000", "10.0.0.2 4000"));
  EXPECT_FALSE(are_on_one_machine("fd00::1 4000", "fd00::11 4000"));
  EXPECT_FALSE(are_on_one_machine("10.0.0.1 4000", "an address that is gone already"));
}

TEST(Encryption, ChangesNoBitOfASum) {
  const auto sums = [](Encryption encryption, Algorithm algorithm) {
    MemoryStore store;
    std::vector<std::vector<float>> results(3);
    in_threads(3, [&](int rank) {
      auto communicator = Communicator::connect(store, group_of(rank, 3, encryption), kTimeout);
      for (const std::size_t count : {1, 7, 12345, 700001}) {
        std::vector<float> values = gradients(rank, count);
        communicator.all_reduce(values, {.algorithm = algorithm}, kTimeout);
        results[static_cast<std::size_t>(rank)].insert(results[static_cast<std::size_t>(rank)].end(), values.begin(), values.end());
      }
      communicator.barrier(kTimeout);
    });
    EXPECT_EQ(results[1], results[0]);
    EXPECT_EQ(results[2], results[0]);
    return results[0];
  };
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::ring, Algorithm::halving_doubling})
    EXPECT_EQ(sums(Encryption::always, algorithm), sums(Encryption::never, algorithm));
}

// Behind the proof (84 bytes of the caller's): a header, contents, a tag.
TEST(Encryption, AChangedByteEndsTheConnection) {
  for (const std::size_t at : {85U, 110U, 5000U, 200000U, 400000U + 84 + 24 + 8}) {
    RelayedStore store({.flip_at = at});
    in_threads(2, [&](int rank) {
      auto communicator = Communicator::connect(store, group_of(rank, 2, Encryption::always), kTimeout);
      std::vector<float> values = gradients(1, 100000);
      const std::string error = thrown_error([&] {
        communicator.broadcast(std::as_writable_bytes(std::span(values)), 1, kTimeout);
        communicator.barrier(kTimeout);
      });
      EXPECT_THAT(error, rank == 0 ? StartsWith("unavailable: what rank 1 has sent was changed on its way")
                                   : StartsWith("unavailable: rank 0 is gone"))
          << "byte " << at;
    });
  }
}

// Nothing of the mode is said in clear, so a changed byte of the hello (name, generation, rank, nonce) or of the proof can't talk two
// members out of it.
TEST(Encryption, CannotBeTalkedDownOnTheWay) {
  for (const std::size_t at : {8U, 9U, 17U, 21U, 52U, 53U, 84U}) {
    RelayedStore store({.flip_at = at});
    in_threads(2, [&](int rank) {
      EXPECT_NE(thrown_error([&] { Communicator::connect(store, group_of(rank, 2, Encryption::always), Seconds{0.1}); }), "no error") << at;
    });
  }
}

TEST(Encryption, DifferentSettingsAreRefusedInWordsByBoth) {
  for (const bool caller_encrypts : {true, false}) {
    MemoryStore store;
    in_threads(2, [&](int rank) {
      const bool encrypts = (rank == 1) == caller_encrypts;
      const std::string error = thrown_error(
          [&] { Communicator::connect(store, group_of(rank, 2, encrypts ? Encryption::always : Encryption::never), kTimeout); });
      EXPECT_THAT(error, AllOf(StartsWith(fmt::format("invalid_argument: rank {} ", 1 - rank)),
                               HasSubstr(encrypts ? "does not encrypt what it sends and this one" : "encrypts what it sends and this one"),
                               HasSubstr("the same strategy.encrypt")));
    });
  }
}

// Each connection and direction has its own key, so no nonce is ever used twice with one.
TEST(Encryption, NoTwoConnectionsOrDirectionsShareAKey) {
  const Socket listener = listen_on("127.0.0.1");
  const Group host = group_of(0, 2, Encryption::always);
  std::vector<std::string> keys;
  for (int i = 0; i < 3; ++i) {
    const Socket caller = connect_to(endpoint_of(listener), Deadline(kTimeout));
    Visitor visitor(accept_from(listener), host, Deadline(kTimeout));
    PairKeys at_caller;
    {
      const std::jthread talk([&] { at_caller = prove_to_host(caller, group_of(1, 2, Encryption::always), 0, Deadline(kTimeout)); });
      while (!visitor.advance()) std::this_thread::yield();
    }
    EXPECT_TRUE(at_caller.encrypt);
    EXPECT_EQ(at_caller.sending, visitor.keys().receiving);
    EXPECT_EQ(at_caller.receiving, visitor.keys().sending);
    keys.insert(keys.end(), {at_caller.sending, at_caller.receiving});
  }
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
}

}  // namespace
}  // namespace trireme::comm
