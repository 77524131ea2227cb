// SPDX-License-Identifier: Apache-2.0
// Tests of link tries on loopback, and of facts about this machine.
#include "trireme/cluster/doctor/link_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/cluster/doctor/machine_facts.h"
#include "trireme/cluster/inventory/addresses.h"

namespace trireme::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

const std::string kToken(64, 't');

TEST(Link, SpeedAndRoundTrip) {
  const LinkListener listener("127.0.0.1", kToken, seconds(20));
  const LinkResult result = try_link({.address = "127.0.0.1", .port = listener.port(), .token = kToken, .sending = milliseconds(50)});
  EXPECT_EQ(result.fault, "") << result.words;
  EXPECT_GT(result.bits_per_second, 1e7);
  EXPECT_GT(result.round_trip, 0);
  EXPECT_LT(result.round_trip, 0.5);
}

TEST(Link, SeveralAtOnce) {
  const LinkListener listener("::1", kToken, seconds(20));
  std::vector<std::thread> threads;
  std::vector<LinkResult> results(4);
  for (LinkResult& result : results)
    threads.emplace_back(
        [&] { result = try_link({.address = "::1", .port = listener.port(), .token = kToken, .sending = milliseconds(50)}); });
  for (std::thread& thread : threads) thread.join();
  for (const LinkResult& result : results) EXPECT_EQ(result.fault, "") << result.words;
}

TEST(Link, ManyInARow) {
  const LinkListener listener("127.0.0.1", kToken, seconds(20));
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(try_link({.address = "127.0.0.1", .port = listener.port(), .token = kToken, .sending = milliseconds(0)}).fault, "") << i;
}

TEST(Link, AWrongTokenGetsNoAnswer) {
  const LinkListener listener("127.0.0.1", kToken, seconds(20));
  EXPECT_EQ(try_link({.address = "127.0.0.1", .port = listener.port(), .token = std::string(64, 'x')}).fault, "broken");
}

TEST(Link, Faults) {
  std::int64_t port = 0;
  { port = LinkListener("127.0.0.1", kToken, seconds(1)).port(); }
  EXPECT_EQ(try_link({.address = "127.0.0.1", .port = port, .token = kToken}).fault, "refused");
  EXPECT_EQ(try_link({.address = "no-such-host.invalid", .port = 1, .token = kToken}).fault, "unresolved");
  EXPECT_THAT(thrown_error([] { LinkListener("192.0.2.1", kToken, seconds(1)); }), HasSubstr("192.0.2.1 is not one of its own addresses"));
}

TEST(Link, OnlyItsOwnAddressIsListenedOn) {
  const LinkListener listener("127.0.0.2", kToken, seconds(20));
  EXPECT_EQ(try_link({.address = "127.0.0.1", .port = listener.port(), .token = kToken}).fault, "refused");
}

TEST(Link, OwnAddress) {
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(address_towards("::1"), "::1");
}

TEST(MachineFacts, OfThisMachine) {
  const MachineFacts facts = this_machine("/tmp");
  EXPECT_GE(facts.cores, 1);
  EXPECT_GT(facts.memory, facts.free_memory);
  EXPECT_GT(facts.free_memory, 0);
  EXPECT_GT(facts.free_disk, 0);
  EXPECT_THAT(facts.vector_extensions, testing::AnyOf("sse", "avx2", "avx512"));
  EXPECT_EQ(to_json(facts_from_json(to_json(facts))), to_json(facts));
  EXPECT_THAT(thrown_error([] { facts_from_json("{}"); }), HasSubstr("data_loss"));
}

}  // namespace
}  // namespace trireme::cluster
