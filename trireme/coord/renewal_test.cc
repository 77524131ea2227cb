// SPDX-License-Identifier: Apache-2.0
// Certificates that end while a job runs: each node and the coordinator itself have a new one by then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/base/testing/wait_until.h"
#include "trireme/coord/testing/coordinator.h"
#include "trireme/rpc/channel.h"

namespace trireme::coord {
namespace {

using testing::StartsWith;

// Whole seconds, as certificates have them, and so few that the first ones end in the test.
constexpr Seconds kValidity{3};

class Renewal : public testing::Test {
 protected:
  rpc::Credentials issue(const rpc::Identity& identity) const { return authority_.issue(identity, {"127.0.0.1"}, kValidity, Seconds{0}); }

  Coordinator::Options options(int port = 0) const {
    Coordinator::Options out = coordinator_options();
    out.port = port;
    out.credentials = issue({.role = "coordinator", .name = "0"});
    out.renewal = {.issue = [this](const rpc::Identity& identity, const std::vector<std::string>&) { return issue(identity); },
                   .validity = kValidity};
    out.silence = Seconds{1};
    return out;
  }
  // Until no peer accepts it any more.
  static void outlive(const rpc::Credentials& credentials, const Coordinator& coordinator) {
    const auto is_taken = [&] {
      try {
        rpc::Channel::connect(coordinator.addresses().front(), credentials, kPatience);
        return true;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), unauthenticated) << error.what();
        return false;
      }
    };
    ASSERT_TRUE(wait_until([&] {
      std::this_thread::sleep_for(Seconds{0.1});  // many tries at once would be taken for a flood
      return !is_taken();
    }));
  }
  static Membership join_as(const Coordinator& coordinator, const rpc::Credentials& credentials) {
    Membership::Options with = node_options(coordinator.addresses().front(), rpc::identity_of_certificate(credentials.certificate).name);
    with.credentials = credentials;
    return Membership::connect(with, kPatience);
  }

  const rpc::Authority authority_ = rpc::Authority::from_secret(kSecret);
};

TEST_F(Renewal, ANodeRejoinsAfterItsFirstCertificateHasEnded) {
  auto coordinator = std::make_unique<Coordinator>(options());
  const rpc::Credentials first = issue({.role = "node", .name = "0"});
  Membership node = join_as(*coordinator, first);
  outlive(first, *coordinator);
  EXPECT_NE(node.credentials().certificate, first.certificate);
  EXPECT_EQ(rpc::identity_of_certificate(node.credentials().certificate).name, "0");
  EXPECT_EQ(node.credentials().authority, first.authority);
  // A new one has all its time before it.
  const std::string last = node.credentials().certificate;
  ASSERT_TRUE(wait_until([&] { return node.credentials().certificate != last; }));
  const int port = coordinator->port();
  coordinator.reset();
  EXPECT_THAT(thrown_error([&] { node.await_generation(0, kPatience); }), StartsWith("unavailable: "));
  coordinator = std::make_unique<Coordinator>(options(port));
  node.rejoin(kPatience);
  EXPECT_EQ(next(*coordinator), "hello 0");
}

TEST_F(Renewal, TheCoordinatorsOwnIsRenewedToo) {
  Coordinator coordinator(options());
  outlive(issue({.role = "node", .name = "0"}), coordinator);
  // Issued when its own first one, which is older, had ended.
  const Membership node = join_as(coordinator, issue({.role = "node", .name = "1"}));
  EXPECT_EQ(next(coordinator), "hello 1");
}

TEST_F(Renewal, AConnectionThatLivesLongerThanItsCertificateStays) {
  Coordinator coordinator(options());
  const rpc::Credentials first = issue({.role = "node", .name = "0"});
  Membership node = join_as(coordinator, first);
  node.ready(kFingerprint);
  EXPECT_EQ(next(coordinator), "hello 0");
  EXPECT_EQ(next(coordinator), "ready 0");
  outlive(first, coordinator);
  coordinator.announce(generation_of(1, {"0"}));
  EXPECT_EQ(node.await_generation(0, kPatience).number, 1U);
  node.store().set("key", "value");
  EXPECT_EQ(node.store().get("key", kPatience), "value");
}

TEST_F(Renewal, WithoutOneAnEndedCertificateIsTheEnd) {
  Coordinator::Options without = options();
  without.renewal = {};
  without.credentials = credentials_of("coordinator", "0");
  auto coordinator = std::make_unique<Coordinator>(without);
  const rpc::Credentials first = issue({.role = "node", .name = "0"});
  Membership node = join_as(*coordinator, first);
  outlive(first, *coordinator);
  EXPECT_EQ(node.credentials().certificate, first.certificate);
  without.port = coordinator->port();
  coordinator.reset();
  EXPECT_THAT(thrown_error([&] { node.await_generation(0, kPatience); }), StartsWith("unavailable: "));
  coordinator = std::make_unique<Coordinator>(without);
  EXPECT_THAT(thrown_error([&] { node.rejoin(kPatience); }), StartsWith("unauthenticated: "));
}

}  // namespace
}  // namespace trireme::coord
