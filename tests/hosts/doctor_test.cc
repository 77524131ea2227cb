// SPDX-License-Identifier: Apache-2.0
// Tests of `trireme doctor` on hosts with a firewall between two of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/hosts/test_hosts.h"

namespace trireme::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

cluster::ProcessOutput doctor(const TestHosts& hosts, std::vector<std::string> more = {}) {
  std::vector<std::string> words{TRIREME_BINARY, "doctor", "--cluster", hosts.cluster_file().string()};
  words.insert(words.end(), more.begin(), more.end());
  cluster::ProcessOutput output = cluster::run_process(words, std::chrono::seconds(60));
  EXPECT_TRUE(output.status) << "the doctor took too long";
  return output;
}

void expect_quiet(const TestHosts& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_THAT(hosts.processes(i), IsEmpty());
}

TEST(Doctor, AHealthyCluster) {
  const TestHosts hosts(3, {.rate = "200mbit", .hidden_libraries = {}, .home_mb = 0});
  const cluster::ProcessOutput output = doctor(hosts, {"--json"});
  ASSERT_EQ(output.status->code, 0) << output.out << output.err;
  const auto report = nlohmann::json::parse(output.out);
  EXPECT_THAT(report["problems"], IsEmpty());
  ASSERT_EQ(report["links"].size(), 3U * 3U);  // every ordered pair, and from each to here
  for (const auto& link : report["links"]) {
    EXPECT_GT(link["bits_per_second"], 100e6) << link;
    EXPECT_LT(link["bits_per_second"], 230e6) << link;
  }
  for (const auto& machine : report["machines"]) {
    EXPECT_LT(std::abs(machine["clock_ahead"].get<double>()), 0.5);
    EXPECT_EQ(machine["facts"]["congestion_control"], "reno");
  }
  expect_quiet(hosts);
}

TEST(Doctor, AFirewallBetweenTwo) {
  const TestHosts hosts(3);
  // What comes to h3 from h1 is dropped; the answers to h3's own connections are let in.
  const std::string rules = fmt::format(
      "add table inet wall; add chain inet wall in {{ type filter hook input priority 0; }}; "
      "add rule inet wall in ip saddr {} tcp flags & (syn | ack) == syn drop",
      hosts.address(0));
  const cluster::ProcessOutput nft = hosts.run(2, {"nft", rules});
  ASSERT_TRUE(nft.status && nft.status->is_success()) << nft.err;
  const cluster::ProcessOutput output = doctor(hosts);
  EXPECT_EQ(output.status->code, 3);
  EXPECT_THAT(output.out, AllOf(HasSubstr(fmt::format("problem: h1 can't connect to h3 ({})", hosts.address(2))),
                                HasSubstr(fmt::format("on h3: sudo ufw allow from {}", hosts.address(0))), HasSubstr("1 problem to mend")));
  expect_quiet(hosts);
}

TEST(Doctor, AMachineThatCantBeLoggedInTo) {
  TestHosts hosts(2);
  hosts.refuse_client_key(1);
  const cluster::ProcessOutput output = doctor(hosts, {"--json"});
  EXPECT_EQ(output.status->code, 3);
  const auto report = nlohmann::json::parse(output.out);
  EXPECT_EQ(report["machines"][0]["usable"], true);
  EXPECT_EQ(report["machines"][1]["usable"], false);
  EXPECT_THAT(report["problems"][0].get<std::string>(), HasSubstr("ssh-copy-id"));
  expect_quiet(hosts);
}

}  // namespace
}  // namespace trireme::tests
