// SPDX-License-Identifier: Apache-2.0
// Tests of shipping to hosts that have nothing, and of programs started there.
#include "trireme/cluster/launch/shipping.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "tests/hosts/test_hosts.h"
#include "trireme/base/digest.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/cluster/launch/launch.h"
#include "trireme/cluster/launch/remote_script.h"
#include "trireme/cluster/launch/ssh.h"

namespace trireme::tests {
namespace {

using cluster::ship;
using cluster::ShippingReport;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kBinary = TRIREME_BINARY;

std::string hash() { return digest_of_file(Digest::Kind::sha256, kBinary); }

std::filesystem::path shipped_folder(const TestHosts& hosts, std::size_t host) { return hosts.home(host) / ".cache/trireme/bin" / hash(); }

TEST(Shipping, FromNothingThenNothingMore) {
  // A host that lacks a library, and one that has them all.
  const TestHosts hosts({HostOptions{.rate = {}, .hidden_libraries = {"libturbojpeg.so.0"}}, HostOptions{}});
  const std::vector<ShippingReport> first = ship(hosts.machines(), hosts.launch_options(kBinary));
  cluster::require_ready(first);
  EXPECT_THAT(first[0].shipped, ElementsAre("trireme", "lib/libturbojpeg.so.0"));
  EXPECT_TRUE(first[0].has_shipped_libraries);
  EXPECT_THAT(first[1].shipped, ElementsAre("trireme"));
  EXPECT_FALSE(first[1].has_shipped_libraries);
  EXPECT_THAT(first[1].warnings, IsEmpty());
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(shipped_folder(hosts, 1))) files.push_back(file.path().filename());
  EXPECT_THAT(files, ElementsAre("trireme"));

  const std::vector<ShippingReport> second = ship(hosts.machines(), hosts.launch_options(kBinary));
  cluster::require_ready(second);
  for (const ShippingReport& report : second) EXPECT_EQ(report.shipped_bytes, 0) << report.machine;
  EXPECT_TRUE(second[0].has_shipped_libraries);
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_THAT(hosts.processes(i), IsEmpty());
  fmt::print("first {:.2f} s, second {:.2f} s\n", first[0].seconds, second[0].seconds);
}

TEST(Shipping, TheStartedProgramFindsItsLibraries) {
  const TestHosts hosts({HostOptions{.rate = {}, .hidden_libraries = {"libcfitsio.so.10"}}});
  cluster::LaunchOptions options = hosts.launch_options(kBinary);
  options.binary_hash = hash();
  const std::vector<ShippingReport> reports = ship(hosts.machines(), options);
  cluster::require_ready(reports);
  const auto run = [&](cluster::Libraries libraries) {
    const std::string script = cluster::start_script(options.binary_hash, {"--version"}, libraries);
    return run_process(cluster::ssh_command(hosts.machine(0), options, script), std::chrono::seconds(20));
  };
  EXPECT_THAT(run(cluster::Libraries::shipped).out, HasSubstr("trireme "));
  EXPECT_THAT(run(cluster::Libraries::of_the_machine).err, HasSubstr("libcfitsio.so.10"));
}

TEST(Shipping, ADamagedProgramIsReplaced) {
  const TestHosts hosts(1);
  cluster::require_ready(ship(hosts.machines(), hosts.launch_options(kBinary)));
  std::ofstream(shipped_folder(hosts, 0) / "trireme", std::ios::app) << "x";
  const std::vector<ShippingReport> reports = ship(hosts.machines(), hosts.launch_options(kBinary));
  cluster::require_ready(reports);
  EXPECT_THAT(reports[0].shipped, ElementsAre("trireme"));
}

TEST(Shipping, AFullDiskIsSaidAndLeavesNothing) {
  const TestHosts hosts({HostOptions{.rate = {}, .hidden_libraries = {}, .home_mb = 4}});
  const std::vector<ShippingReport> reports = ship(hosts.machines(), hosts.launch_options(kBinary));
  EXPECT_THAT(reports[0].error, HasSubstr("h1: its disk is full"));
  EXPECT_TRUE(std::filesystem::is_empty(shipped_folder(hosts, 0)));
}

TEST(Shipping, AnotherArchitectureIsSaid) {
  const TestHosts hosts(1);
  const std::filesystem::path fake = hosts.folder() / "uname";
  write_file_atomically(fake, "#!/bin/sh\n[ $1 = -m ] && echo aarch64 || echo Linux\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  ASSERT_TRUE(hosts.run(0, {"mount", "--bind", fake.string(), "/usr/bin/uname"}).status->is_success());
  EXPECT_THAT(ship(hosts.machines(), hosts.launch_options(kBinary))[0].error,
              HasSubstr("h1: it is Linux aarch64, but this program is made for Linux "));
}

TEST(Shipping, NoHomeToWriteToIsSaid) {
  const TestHosts hosts(1);
  ASSERT_TRUE(hosts.run(0, {"sh", "-c", "mount -o remount,ro,bind $HOME"}).status->is_success());
  EXPECT_THAT(ship(hosts.machines(), hosts.launch_options(kBinary))[0].error,
              HasSubstr("h1: ~/.cache/trireme can't be made there (mkdir: "));
}

// A node stands for any program that goes on until its input ends.
cluster::LauncherEntry waiting_program() {
  return {.name = "cat",
          .summary = "",
          .command = [](const cluster::NodePlan& plan,
                        const cluster::LaunchOptions& options) { return cluster::ssh_command(plan.machine, options, "echo up; exec cat"); },
          .is_remote = true};
}

bool is_quiet(const TestHosts& hosts, std::size_t host, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!hosts.processes(host).empty()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

struct Seen {
  std::mutex mutex;
  std::vector<std::string> lines;

  cluster::LaunchEvents events() {
    return {.on_line =
                [this](std::string_view node, std::string_view line) {
                  const std::scoped_lock lock(mutex);
                  lines.push_back(fmt::format("{}: {}", node, line));
                },
            .on_exit = {}};
  }
  bool has(const std::string& line) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::scoped_lock lock(mutex);
        if (std::find(lines.begin(), lines.end(), line) != lines.end()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
};

std::vector<cluster::Launch::Node> nodes_on(const TestHosts& hosts) {
  std::vector<cluster::Launch::Node> nodes;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    nodes.emplace_back();
    nodes.back().plan.name = std::to_string(i);
    nodes.back().plan.machine = hosts.machine(i);
    nodes.back().input = fmt::format("secret {}\n", i);
  }
  return nodes;
}

TEST(RemoteLaunch, NothingIsLeftWhenItEnds) {
  const TestHosts hosts(2);
  Seen seen;
  {
    cluster::Launch launch(waiting_program(), hosts.launch_options(kBinary), nodes_on(hosts), seen.events());
    for (const std::string line : {"0: up", "1: up", "0: secret 0", "1: secret 1"}) EXPECT_TRUE(seen.has(line)) << line;
    EXPECT_THAT(hosts.processes(0), Contains(HasSubstr("cat")));
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_TRUE(is_quiet(hosts, i, std::chrono::seconds(10)));
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The processes of this test that run ssh.
std::vector<pid_t> own_ssh() {
  std::vector<pid_t> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::istringstream children(text_of(thread.path() / "children"));
    for (pid_t child = 0; children >> child;)
      if (text_of(fmt::format("/proc/{}/cmdline", child)).starts_with(std::string("ssh\0", 4))) found.push_back(child);
  }
  return found;
}

TEST(RemoteLaunch, SecretsAreNotVisibleToOthers) {
  const TestHosts hosts(1);
  const std::string canary = "canary-" + cluster::random_mark();
  std::vector<cluster::Launch::Node> nodes = nodes_on(hosts);
  nodes[0].input = canary + "\n";
  Seen seen;
  cluster::Launch launch(waiting_program(), hosts.launch_options(kBinary), std::move(nodes), seen.events());
  ASSERT_TRUE(seen.has("0: " + canary));
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    EXPECT_EQ(text_of(entry.path() / "cmdline").find(canary), std::string::npos) << entry.path();
    EXPECT_EQ(text_of(entry.path() / "environ").find(canary), std::string::npos) << entry.path();
  }
}

TEST(RemoteLaunch, NothingIsLeftWhenSshIsKilled) {
  const TestHosts hosts(1);
  Seen seen;
  cluster::Launch launch(waiting_program(), hosts.launch_options(kBinary), nodes_on(hosts), seen.events());
  ASSERT_TRUE(seen.has("0: up"));
  const std::vector<pid_t> ssh = own_ssh();
  ASSERT_EQ(ssh.size(), 1U);
  ASSERT_EQ(::kill(ssh[0], SIGKILL), 0);
  EXPECT_TRUE(is_quiet(hosts, 0, std::chrono::seconds(10)));
  ASSERT_TRUE(launch.wait_for(std::chrono::seconds(5)));
  EXPECT_EQ(launch.exits()[0].words, "killed by SIGKILL");
}

}  // namespace
}  // namespace trireme::tests
