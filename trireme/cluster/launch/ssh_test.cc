// SPDX-License-Identifier: Apache-2.0
// Tests of ssh's command lines, with ssh itself as the judge of what they mean, and of its failures in words.
#include "trireme/cluster/launch/ssh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/process.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::cluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHash = "0123456789abcdef";

Machine machine(std::string address) {
  Machine machine;
  machine.name = address;
  machine.address = std::move(address);
  return machine;
}

// The configuration that ssh would use: ssh -G prints it and connects to nothing.
std::string meaning(std::vector<std::string> command) {
  command.insert(command.begin() + 1, "-G");
  const ProcessOutput output = run_process(command, std::chrono::seconds(10));
  EXPECT_TRUE(output.status && output.status->is_success()) << output.err;
  return output.out;
}

TEST(Ssh, MeansWhatItShould) {
  Machine host = machine("10.0.0.1");
  host.user = "ann";
  host.port = 2200;
  LaunchOptions options;
  options.ssh.known_hosts_file = "/etc/lab_hosts";
  const std::string config = meaning(ssh_command(host, options, "echo hello"));
  for (const std::string_view line :
       {"user ann\n", "hostname 10.0.0.1\n", "port 2200\n", "batchmode yes\n", "stricthostkeychecking true\n", "connecttimeout 10\n",
        "forwardagent no\n", "requesttty false\n", "userknownhostsfile /etc/lab_hosts\n"})
    EXPECT_THAT(config, HasSubstr(line));
}

TEST(Ssh, HostKeysAreAlwaysChecked) {
  LaunchOptions options;
  options.ssh_args = {"-o", "StrictHostKeyChecking=no", "-o", "BatchMode=no", "-A"};
  const std::string config = meaning(ssh_command(machine("h"), options, "echo"));
  EXPECT_THAT(config, AllOf(HasSubstr("stricthostkeychecking true\n"), HasSubstr("batchmode yes\n"), HasSubstr("forwardagent no\n")));
  options.accept_new_hosts = true;
  EXPECT_THAT(meaning(ssh_command(machine("h"), options, "echo")), HasSubstr("stricthostkeychecking accept-new\n"));
  options.accept_new_hosts = false;
  options.ssh.accept_new = true;
  EXPECT_THAT(meaning(ssh_command(machine("h"), options, "echo")), HasSubstr("stricthostkeychecking accept-new\n"));
}

TEST(Ssh, TheHostIsNeverAnOption) {
  const std::vector<std::string> command = ssh_command(machine("fd00::1"), {}, "echo");
  EXPECT_EQ(*(command.end() - 3), "--");
  EXPECT_EQ(*(command.end() - 2), "fd00::1");
  EXPECT_THAT(thrown_error([] { ssh_command(machine("-oProxyCommand=touch"), {}, "echo"); }), HasSubstr("is not a host name"));
  Machine bad_user = machine("h");
  bad_user.user = "-oProxyCommand=touch";
  EXPECT_THAT(thrown_error([&] { ssh_command(bad_user, {}, "echo"); }), HasSubstr("can't be used as user"));
  LaunchOptions bad_path;
  bad_path.ssh.identity_file = "x y";
  EXPECT_THAT(thrown_error([&] { ssh_command(machine("h"), bad_path, "echo"); }), HasSubstr("can't be used as identity_file"));
}

TEST(Ssh, StartScript) {
  EXPECT_EQ(start_script(kHash, {"node", "--threads", "2"}, Libraries::of_the_machine),
            "exec \"$HOME/.cache/trireme/bin/0123456789abcdef/trireme\" node --threads 2");
  EXPECT_THAT(
      start_script(kHash, {"node"}, Libraries::shipped),
      HasSubstr("export LD_LIBRARY_PATH=\"$HOME/.cache/trireme/bin/0123456789abcdef/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"; exec "));
}

TEST(SshDeathTest, OnlyPlainWordsAreRun) {
  EXPECT_DEATH(start_script(kHash, {"a;b"}, Libraries::shipped), "plain word");
  EXPECT_DEATH(start_script("$(id)", {"node"}, Libraries::shipped), "hexadecimal");
  EXPECT_DEATH(ssh_command(machine("h"), {}, "echo 'x'"), "all shells");
}

TEST(Launchers, CommandsOfEveryEntry) {
  const NodePlan plan{.name = "1", .machine = machine("h1"), .slot = 0, .threads = 2};
  const LaunchOptions options{.binary = "/opt/trireme", .binary_hash = std::string(kHash)};
  const auto& catalog = launchers::catalog();
  EXPECT_THAT(find_entry(catalog, "local", "launcher").command(plan, options), ElementsAre("/opt/trireme", "node", "--threads", "2"));
  EXPECT_EQ(find_entry(catalog, "ssh", "launcher").command(plan, options).back(),
            "exec sh -c 'exec \"$HOME/.cache/trireme/bin/0123456789abcdef/trireme\" node --threads 2'");
  for (const LauncherEntry& entry : catalog) EXPECT_FALSE(entry.command(plan, options).empty()) << entry.name;
}

TEST(Launchers, CommandsAsTyped) {
  const std::vector<std::string> command{"printf", "%s|", "", "a b", "it's", "$HOME", "-o", "A=b"};
  EXPECT_EQ(as_typed({"ssh", "-T", "h1"}), "ssh -T h1");
  EXPECT_EQ(run_process({"sh", "-c", as_typed(command)}, std::chrono::seconds(10)).out, "|a b|it's|$HOME|-o|A=b|\n");
}

TEST(Launchers, ANodeForEachSlot) {
  std::vector<Machine> machines{machine("a"), machine("b")};
  machines[0].slots = 2;
  std::vector<std::string> nodes;
  for (const NodePlan& plan : plan_nodes(machines)) nodes.push_back(fmt::format("{} {} {}", plan.name, plan.machine.name, plan.slot));
  EXPECT_THAT(nodes, ElementsAre("0 a 0", "1 a 1", "2 b 0"));
}

std::string failure(std::string_view messages) {
  Machine host = machine("h1");
  host.user = "ann";
  return ssh_failure(host, messages).what();
}

TEST(SshFailure, InWords) {
  EXPECT_THAT(failure("ssh: Could not resolve hostname h1: Name or service not known\r\n"), HasSubstr("there is no host 'h1'"));
  EXPECT_THAT(failure("ssh: connect to host h1 port 22: Connection refused\n"), HasSubstr("no ssh server listens there"));
  EXPECT_THAT(failure("ssh: connect to host h1 port 22: No route to host\n"),
              AllOf(HasSubstr("h1:22 can't be reached"), HasSubstr("No route to host")));
  EXPECT_THAT(failure("ssh: connect to host h1 port 22: Connection timed out\n"), HasSubstr("can't be reached"));
  EXPECT_THAT(failure("Connection timed out during banner exchange\n"), HasSubstr("can't be reached"));
  EXPECT_THAT(failure("ann@h1: Permission denied (publickey).\n"), HasSubstr("ssh-copy-id ann@h1"));
  EXPECT_THAT(failure("No ED25519 host key is known for h1 and you have requested strict checking.\nHost key verification failed.\n"),
              AllOf(HasSubstr("host key is not known"), HasSubstr("accept_new = true"), Not(HasSubstr("changed"))));
  EXPECT_THAT(
      failure("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nThe fingerprint for the ED25519 key sent by the remote host "
              "is\nSHA256:abc/def.\nHost key verification failed.\n"),
      AllOf(HasSubstr("has changed (it is SHA256:abc/def now)"), HasSubstr("ssh-keygen -R 'h1'")));
  EXPECT_THAT(failure("kex_exchange_identification: Connection closed by remote host\n"),
              HasSubstr("closed the connection before the login"));
  EXPECT_THAT(failure("what is this\n"), HasSubstr("ssh failed: what is this; try by hand: ssh ann@h1"));
  EXPECT_THAT(failure(""), HasSubstr("it said nothing"));
}

}  // namespace
}  // namespace trireme::cluster
