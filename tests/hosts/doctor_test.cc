// SPDX-License-Identifier: Apache-2.0
// Tests of `trireme doctor` on hosts with a firewall between two of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "tests/hosts/test_hosts.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ProcessOutput doctor(const TestHosts& hosts, std::vector<std::string> more = {}) {
  std::vector<std::string> words{TRIREME_BINARY, "doctor", "--cluster", hosts.cluster_file().string()};
  words.insert(words.end(), more.begin(), more.end());
  ProcessOutput output = run_process(words, std::chrono::seconds(60));
  EXPECT_TRUE(output.status) << "the doctor took too long";
  return output;
}

void expect_quiet(const TestHosts& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_THAT(hosts.processes(i), IsEmpty());
}

template <class Condition>
bool await(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

TEST(Doctor, AHealthyCluster) {
  const TestHosts hosts(3, {.rate = "200mbit", .hidden_libraries = {}, .home_mb = 0});
  const ProcessOutput output = doctor(hosts, {"--json"});
  ASSERT_EQ(output.status->code, 0) << output.out << output.err;
  const auto report = parse_json(output.out);
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
  const ProcessOutput nft = hosts.run(2, {"nft", rules});
  ASSERT_TRUE(nft.status && nft.status->is_success()) << nft.err;
  const ProcessOutput output = doctor(hosts);
  EXPECT_EQ(output.status->code, 3);
  EXPECT_THAT(output.out, AllOf(HasSubstr(fmt::format("problem: h1 can't connect to h3 ({})", hosts.address(2))),
                                HasSubstr(fmt::format("on h3: sudo ufw allow from {}", hosts.address(0))), HasSubstr("1 problem to mend")));
  expect_quiet(hosts);
}

// Killed without a chance to clean up, in the middle of shipping.
TEST(Doctor, KilledItLeavesNothing) {
  const TestHosts hosts(2, {.rate = "40mbit", .hidden_libraries = {}, .home_mb = 0});
  std::mutex mutex;
  std::condition_variable changed;
  int events = 0;
  Process process({.argv = {TRIREME_BINARY, "doctor", "--cluster", hosts.cluster_file().string()},
                   .input = {},
                   .input_file = {},
                   .on_line =
                       [&](Stream, std::string_view line) {
                         const std::scoped_lock lock(mutex);
                         events += line.find(": ships trireme") == std::string_view::npos ? 0 : 1;
                         changed.notify_all();
                       },
                   .on_exit = {}});
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return events == 2; }));
  }
  const auto has_part = [&](std::size_t host) {
    return hosts.run(host, {"sh", "-c", "ls -d $HOME/.cache/trireme/bin/*/.part-*"}).status->is_success();
  };
  EXPECT_TRUE(await([&] { return has_part(0) && has_part(1); }));
  ASSERT_EQ(::kill(process.pid(), SIGKILL), 0);
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_TRUE(await([&] { return hosts.processes(i).empty() && !has_part(i); }));
}

TEST(Doctor, AMachineThatCantBeLoggedInTo) {
  TestHosts hosts(2);
  hosts.refuse_client_key(1);
  const ProcessOutput output = doctor(hosts, {"--json"});
  EXPECT_EQ(output.status->code, 3);
  const auto report = parse_json(output.out);
  EXPECT_EQ(report["machines"][0]["usable"], true);
  EXPECT_EQ(report["machines"][1]["usable"], false);
  EXPECT_THAT(report["problems"][0].get<std::string>(), HasSubstr("ssh-copy-id"));
  expect_quiet(hosts);
}

}  // namespace
}  // namespace trireme::tests
