// SPDX-License-Identifier: Apache-2.0
// Tests of cluster files, hostfiles and lists of hosts: what they may say, and that nothing dangerous gets through.
#include "trireme/cluster/inventory/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ClusterToml, HasAllFields) {
  const Inventory inventory = parse_cluster_toml(R"(
[defaults]
user = "ann"
slots = 2
[ssh]
identity_file = "~/.ssh/lab"
known_hosts_file = "/etc/lab_hosts"
[[machines]]
name = "old"
address = "10.0.0.1"
port = 2200
cores = 4
memory_gb = 7.5
gpus = 1
energy_efficient = true
watts = 65.0
price = 0.1
labels = ["room-1", "atom"]
[[machines]]
address = "[fd00::2]"
slots = 3
)",
                                                 "lab.toml");
  ASSERT_EQ(inventory.machines.size(), 2U);
  const Machine& old = inventory.machines[0];
  EXPECT_EQ(old.name, "old");
  EXPECT_EQ(old.user, "ann");
  EXPECT_EQ(old.port, 2200);
  EXPECT_EQ(old.slots, 2);
  EXPECT_EQ(old.cores, 4);
  EXPECT_EQ(old.memory_gb, 7.5);
  EXPECT_EQ(old.gpus, 1);
  EXPECT_TRUE(old.energy_efficient);
  EXPECT_EQ(old.watts, 65);
  EXPECT_EQ(old.price, 0.1);
  EXPECT_THAT(old.labels, ElementsAre("room-1", "atom"));
  EXPECT_EQ(inventory.machines[1].address, "fd00::2");
  EXPECT_EQ(inventory.machines[1].name, "fd00::2");
  EXPECT_EQ(inventory.machines[1].slots, 3);
  EXPECT_EQ(inventory.ssh.identity_file, "~/.ssh/lab");
  EXPECT_EQ(inventory.ssh.known_hosts_file, "/etc/lab_hosts");
  EXPECT_FALSE(inventory.ssh.accept_new);
}

std::string toml_error(const std::string& text) {
  return thrown_error([&] { parse_cluster_toml(text, "lab.toml"); });
}

TEST(ClusterToml, FaultsNameTheLine) {
  EXPECT_THAT(toml_error("[[machines]]\naddress = 'a'\nslot = 2"),
              HasSubstr("lab.toml:3: a machine has no option 'slot'; did you mean 'slots'?"));
  EXPECT_THAT(toml_error("[[machines]]\naddress = 'a'\nport = 70000"),
              HasSubstr("lab.toml:3: a machine: port = 70000, must be 1 to 65535"));
  EXPECT_THAT(toml_error("[[machine]]\naddress = 'a'"), HasSubstr("lab.toml:1: a cluster file has no 'machine'; did you mean 'machines'?"));
  EXPECT_THAT(toml_error("\n[[machines]]\nuser = 'a'"), HasSubstr("lab.toml:2: a machine has no address"));
  EXPECT_THAT(toml_error("[defaults]\naddress = 'a'"), HasSubstr("lab.toml:2: [defaults] can't have 'address'"));
  EXPECT_THAT(toml_error("# nothing"), HasSubstr("lab.toml: there is no machine in it"));
}

TEST(ClusterToml, AMachineStandsThereOnce) {
  EXPECT_THAT(toml_error("[[machines]]\naddress = 'a'\n[[machines]]\naddress = 'b'\n[[machines]]\naddress = 'A'"),
              HasSubstr("lab.toml:5: machine A:22 stands there twice (first at lab.toml:1); for several nodes on it write it once"));
  EXPECT_THAT(toml_error("[[machines]]\naddress = 'a'\nname = 'x'\n[[machines]]\naddress = 'b'\nname = 'x'"),
              HasSubstr("lab.toml:4: a machine named 'x' is there already (lab.toml:1)"));
  const Inventory two_ports = parse_cluster_toml("[[machines]]\naddress = 'a'\n[[machines]]\naddress = 'a'\nport = 23", "lab.toml");
  EXPECT_EQ(two_ports.machines[1].name, "a:23");
}

// A host name is given to ssh, which would take these as options or hand them to a shell.
TEST(ClusterToml, DangerousTextsAreRefused) {
  for (const std::string text : {"-oProxyCommand=x",
                                 "h;touch /tmp/p",
                                 "$(id)",
                                 "a b",
                                 "a\\nb",
                                 "a'b",
                                 "`id`",
                                 "a|b",
                                 "a&b",
                                 "h/..",
                                 "user@h",
                                 "\\u0000",
                                 "a\\u0000b",
                                 "::1\\u0000;id",
                                 "fe80::1%;id",
                                 "fe80::1%-x",
                                 "\\u001b[31m",
                                 "",
                                 "h*",
                                 "{a,b}",
                                 "1:2"}) {
    EXPECT_THAT(toml_error("[[machines]]\naddress = \"" + text + "\""), HasSubstr("lab.toml:1: ")) << text;
    if (text.empty()) continue;
    EXPECT_THAT(toml_error("[[machines]]\naddress = 'h'\nuser = \"" + text + "\""), HasSubstr("can't be used as user")) << text;
    EXPECT_THAT(toml_error("[[machines]]\naddress = 'h'\nlabels = \"" + text + "\""), HasSubstr("can't be used as label")) << text;
  }
  EXPECT_THAT(toml_error("[ssh]\nidentity_file = '-oProxyCommand=x'\n[[machines]]\naddress = 'h'"),
              HasSubstr("can't be used as identity_file"));
  EXPECT_THAT(toml_error("[ssh]\nknown_hosts_file = 'a b'\n[[machines]]\naddress = 'h'"), HasSubstr("can't be used as known_hosts_file"));
}

TEST(Hostfile, BothSpellingsOfSlots) {
  const Inventory inventory =
      parse_hostfile("# lab\nh1 slots=4\nh2:3  # old\n\n  ann@h3\t\n[fd00::1]:2\nfd00::2\nh4 slots=2 max_slots=8\r\n", "hosts");
  std::vector<std::string> hosts;
  for (const Machine& machine : inventory.machines) hosts.push_back(fmt::format("{}@{} {}", machine.user, machine.address, machine.slots));
  EXPECT_THAT(hosts, ElementsAre("@h1 4", "@h2 3", "ann@h3 1", "@fd00::1 2", "@fd00::2 1", "@h4 2"));
  EXPECT_THAT(inventory.warnings, ElementsAre(HasSubstr("hosts:8: max_slots=8 is ignored")));
}

TEST(Hostfile, FaultsNameTheLine) {
  const auto error = [](std::string_view text) { return thrown_error([&] { parse_hostfile(text, "hosts"); }); };
  EXPECT_THAT(error("h1\nh2 slots=x"), HasSubstr("hosts:2: 'x' can't be a number of slots"));
  EXPECT_THAT(error("h1:0"), HasSubstr("hosts:1: '0' can't be a number of slots"));
  EXPECT_THAT(error("h1\nh2 fast"), HasSubstr("hosts:2: 'fast' is not understood; write HOST slots=N"));
  EXPECT_THAT(error("h1\nh2\nh1 slots=2"), HasSubstr("hosts:3: machine h1:22 stands there twice (first at hosts:1)"));
  EXPECT_THAT(error("\n# none\n"), HasSubstr("hosts: there is no machine in it"));
  EXPECT_THAT(error("-oProxyCommand=touch"), HasSubstr("is not a host name or IP address"));
}

TEST(HostList, SlotsAndFaults) {
  const Inventory inventory = parse_host_list("a:2, b:4,[fd00::1]:3");
  ASSERT_EQ(inventory.machines.size(), 3U);
  EXPECT_EQ(inventory.machines[0].slots, 2);
  EXPECT_EQ(inventory.machines[1].address, "b");
  EXPECT_EQ(inventory.machines[2].address, "fd00::1");
  EXPECT_EQ(inventory.machines[2].slots, 3);
  EXPECT_THAT(thrown_error([] { parse_host_list("a,,b"); }), HasSubstr("a host is missing in 'a,,b'"));
  EXPECT_THAT(thrown_error([] { parse_host_list("a:2,a:3"); }), HasSubstr("-H: machine a:22 stands there twice"));
  EXPECT_THAT(thrown_error([] { parse_host_list(""); }), HasSubstr("-H: a host is missing"));
  EXPECT_THAT(thrown_error([] { parse_host_list("[fd00::1]2"); }), HasSubstr("'2' after the address is not understood"));
}

}  // namespace
}  // namespace trireme::cluster
