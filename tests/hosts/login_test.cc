// SPDX-License-Identifier: Apache-2.0
// Tests of logins that go wrong: each ends in time, says what to do, and leaves nothing running.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/hosts/test_hosts.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/cluster/launch/shipping.h"

namespace trireme::tests {
namespace {

using cluster::ShippingReport;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kBinary = TRIREME_BINARY;

// What shipping to one machine says, and that it says it in time.
std::string error_of(const TestHosts& hosts, const cluster::Machine& machine, const cluster::LaunchOptions& options) {
  const ShippingReport report = cluster::ship({machine}, options).at(0);
  EXPECT_LT(report.seconds, static_cast<double>(options.connect_timeout) + 3.0);
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_THAT(hosts.processes(i), IsEmpty());
  return report.error;
}

std::string error_of(const TestHosts& hosts) { return error_of(hosts, hosts.machine(0), hosts.launch_options(kBinary)); }

TEST(Login, RefusedKey) {
  TestHosts hosts(1);
  hosts.refuse_client_key(0);
  EXPECT_THAT(error_of(hosts),
              AllOf(HasSubstr("h1: the machine is there, but accepts none of our keys"), HasSubstr("ssh-copy-id root@10.213.")));
}

TEST(Login, ChangedHostKey) {
  TestHosts hosts(1);
  hosts.change_host_key(0);
  EXPECT_THAT(error_of(hosts), AllOf(HasSubstr("h1: its host key has changed (it is SHA256:"), HasSubstr("ssh-keygen -R")));
  cluster::LaunchOptions trusting = hosts.launch_options(kBinary);
  trusting.accept_new_hosts = true;  // new is not changed
  EXPECT_THAT(error_of(hosts, hosts.machine(0), trusting), HasSubstr("host key has changed"));
}

TEST(Login, UnknownHostKey) {
  TestHosts hosts(1);
  hosts.forget_host_key(0);
  EXPECT_THAT(error_of(hosts), AllOf(HasSubstr("h1: its host key is not known here"), HasSubstr("accept_new = true")));
  cluster::LaunchOptions trusting = hosts.launch_options(kBinary);
  trusting.accept_new_hosts = true;
  EXPECT_EQ(error_of(hosts, hosts.machine(0), trusting), "");
  EXPECT_EQ(error_of(hosts), "");  // now it is known
}

TEST(Login, UnreachableAndRefused) {
  const TestHosts hosts(1);
  cluster::LaunchOptions options = hosts.launch_options(kBinary);
  options.connect_timeout = 3;
  cluster::Machine nobody = hosts.machine(0);
  nobody.address = hosts.free_address();
  EXPECT_THAT(error_of(hosts, nobody, options), AllOf(HasSubstr("can't be reached"), HasSubstr(nobody.address + ":22")));
  cluster::Machine no_server = hosts.machine(0);
  no_server.port = 23;
  EXPECT_THAT(error_of(hosts, no_server, options), HasSubstr("no ssh server listens there"));
  cluster::Machine unknown = hosts.machine(0);
  unknown.address = "no-such-host.invalid";
  EXPECT_THAT(error_of(hosts, unknown, options), HasSubstr("there is no host 'no-such-host.invalid'"));
}

TEST(Login, OneBadMachineOfThree) {
  TestHosts hosts(3);
  hosts.refuse_client_key(1);
  const std::vector<ShippingReport> reports = cluster::ship(hosts.machines(), hosts.launch_options(kBinary));
  EXPECT_EQ(reports[0].error, "");
  EXPECT_EQ(reports[2].error, "");
  EXPECT_THAT(thrown_error([&] { cluster::require_ready(reports); }),
              HasSubstr("failed_precondition: h2: the machine is there, but accepts none"));
}

TEST(Login, NoiseIsPassedOver) {
  const TestHosts hosts(1);
  write_file_atomically(hosts.home(0) / ".bashrc", "echo Welcome to h1\nprintf 'no end of line'\necho oops >&2\n");
  const ShippingReport report = cluster::ship(hosts.machines(), hosts.launch_options(kBinary)).at(0);
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("h1: its login prints \"Welcome to h1\"")));
}

TEST(Login, SwallowedSessions) {
  const TestHosts hosts(1);
  cluster::LaunchOptions options = hosts.launch_options(kBinary);
  options.connect_timeout = 2;
  write_file_atomically(hosts.home(0) / ".bashrc", "echo 'Account expired'; exit 3\n");
  EXPECT_THAT(error_of(hosts, hosts.machine(0), options),
              AllOf(HasSubstr("h1: the login's shell exited with code 3 before our command ran; it printed \"Account expired\""),
                    HasSubstr(".bashrc")));
  write_file_atomically(hosts.home(0) / ".bashrc", "echo 'Press a key'; exec sleep 1000\n");
  EXPECT_THAT(cluster::ship(hosts.machines(), options).at(0).error,
              AllOf(HasSubstr("h1: our command did not begin within 2 s; it printed \"Press a key\""), HasSubstr(".bashrc")));
}

}  // namespace
}  // namespace trireme::tests
