// SPDX-License-Identifier: Apache-2.0
// A switch, its hosts, and the client's files for them.
#include "tests/hosts/test_hosts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>

#include "tests/hosts/host_commands.h"
#include "tests/hosts/test_host.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

void require_means() {
  if (::geteuid() != 0)
    throw Error{failed_precondition,
                "test hosts need root, for network namespaces; run as root, or leave these tests out: ctest -LE hosts"};
  for (const std::string program : {"ip", "tc", "unshare", "nsenter", "nft", "ssh", "ssh-keygen", "/usr/sbin/sshd"}) {
    if (!run_process({"sh", "-c", "command -v " + program}, kLimit).status->is_success())
      throw Error{failed_precondition,
                  "test hosts need the program {}: scripts/install-packages, or leave these tests out: ctest -LE hosts", program};
  }
}

// A network that is not used here yet.
int free_network(pid_t owner) {
  constexpr int kNetworks = 250;
  for (int i = 0; i < kNetworks; ++i) {
    const int network = (owner + i) % kNetworks + 1;
    const ProcessOutput routes = run_process({"ip", "route", "show", fmt::format("10.213.{}.0/24", network)}, kLimit);
    if (routes.out.empty()) return network;
  }
  throw Error{resource_exhausted, "test hosts: all networks 10.213.x.0/24 are in use; clean up: trireme_test_hosts down"};
}

void remove_network(pid_t owner) {
  const ProcessOutput list = run_process({"ip", "netns", "list"}, kLimit);
  for (std::size_t at = 0; at < list.out.size(); at = list.out.find('\n', at) + 1) {
    const std::string space = list.out.substr(at, list.out.find_first_of(" \n", at) - at);
    if (space.starts_with(fmt::format("trireme-{}-", owner))) run_process({"ip", "netns", "del", space}, kLimit);
  }
  run_process({"ip", "link", "del", own_link(owner)}, kLimit);
}

}  // namespace

struct TestHosts::State {
  explicit State(const std::vector<HostOptions>& options) : owner(::getpid()), network(free_network(owner)), folder(folder_of(owner)) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all);
    make_key(folder / "client_key", "trireme test client");
    add_switch();
    for (std::size_t i = 0; i < options.size(); ++i) hosts.push_back(std::make_unique<Host>(owner, i, network, options[i]));
    for (const auto& host : hosts) {
      fs::copy_file(folder / "client_key.pub", host->folder() / "authorized_keys");
      host->start();
    }
    write_client_files();
  }

  ~State() {
    relays.clear();
    for (const auto& host : hosts) host->stop();
    remove_network(owner);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  std::string own_address() const { return fmt::format("10.213.{}.254", network); }

  void add_switch() const {
    const std::string space = switch_space(owner);
    must({"ip", "netns", "add", space});
    must({"ip", "-n", space, "link", "add", "br0", "type", "bridge"});
    must({"ip", "-n", space, "link", "set", "br0", "up"});
    must({"ip", "link", "add", own_link(owner), "type", "veth", "peer", "name", "up0", "netns", space});
    must({"ip", "-n", space, "link", "set", "up0", "master", "br0", "up"});
    must({"ip", "addr", "add", own_address() + "/24", "dev", own_link(owner)});
    must({"ip", "link", "set", own_link(owner), "up"});
  }

  void write_known_hosts(std::optional<std::size_t> but) const {
    std::string known;
    for (std::size_t i = 0; i < hosts.size(); ++i)
      if (i != but) known += fmt::format("{} {}\n", hosts[i]->address(), hosts[i]->public_key());
    write_file_atomically(folder / "known_hosts", known);
  }

  void write_client_files() const {
    write_known_hosts({});
    const std::string key = (folder / "client_key").string();
    const std::string known = (folder / "known_hosts").string();
    write_file_atomically(
        folder / "ssh_config",
        fmt::format("IdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\nUpdateHostKeys no\n"
                    "SendEnv {}\n",
                    key, known, kPassedOn));
    std::string cluster =
        fmt::format("[ssh]\nidentity_file = \"{}\"\nknown_hosts_file = \"{}\"\n\n[defaults]\nuser = \"{}\"\n", key, known, user_name());
    for (std::size_t i = 0; i < hosts.size(); ++i)
      cluster += fmt::format("\n[[machines]]\nname = \"h{}\"\naddress = \"{}\"\n", i + 1, hosts[i]->address());
    write_file_atomically(folder / "cluster.toml", cluster);
  }

  pid_t owner;
  int network;
  fs::path folder;
  std::vector<std::unique_ptr<Host>> hosts;
  std::map<std::size_t, std::unique_ptr<PacketRelay>> relays;  // by host
};

TestHosts::TestHosts(int count, const HostOptions& all) : TestHosts(std::vector<HostOptions>(static_cast<std::size_t>(count), all)) {}

TestHosts::TestHosts(const std::vector<HostOptions>& hosts) {
  require_means();
  clean_leftovers();
  try {
    state_ = std::make_unique<State>(hosts);
  } catch (...) {
    remove_network(::getpid());
    throw;
  }
}

TestHosts::~TestHosts() = default;

std::size_t TestHosts::size() const { return state_->hosts.size(); }
std::string TestHosts::address(std::size_t host) const { return state_->hosts.at(host)->address(); }
std::string TestHosts::own_address() const { return state_->own_address(); }
std::string TestHosts::free_address() const { return fmt::format("10.213.{}.250", state_->network); }
fs::path TestHosts::folder() const { return state_->folder; }
fs::path TestHosts::cluster_file() const { return state_->folder / "cluster.toml"; }

// Through the host's own view, in which its home may be a file system of its own.
fs::path TestHosts::home(std::size_t host) const { return fmt::format("/proc/{}/root{}", state_->hosts.at(host)->first(), user_home()); }

cluster::Machine TestHosts::machine(std::size_t host) const {
  cluster::Machine machine;
  machine.name = fmt::format("h{}", host + 1);
  machine.address = address(host);
  machine.user = user_name();
  return machine;
}

std::vector<cluster::Machine> TestHosts::machines() const {
  std::vector<cluster::Machine> machines;
  for (std::size_t i = 0; i < size(); ++i) machines.push_back(machine(i));
  return machines;
}

cluster::LaunchOptions TestHosts::launch_options(const fs::path& binary) const {
  cluster::LaunchOptions options;
  options.binary = binary;
  options.ssh_args = {"-F", (state_->folder / "ssh_config").string()};
  return options;
}

ProcessOutput TestHosts::run(std::size_t host, const Words& argv) const { return run_process(state_->hosts.at(host)->enter(argv), kLimit); }

std::vector<std::string> TestHosts::processes(std::size_t host) const {
  std::vector<std::string> lines;
  for (const pid_t pid : members(state_->hosts.at(host)->pid_namespace())) {
    std::string line;
    try {
      line = read_file(fmt::format("/proc/{}/cmdline", pid));  // of a zombie it is empty
    } catch (const Error&) {                                   // it has just ended
    }
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (!line.empty() && !line.starts_with("sshd:") && line.find("/sshd ") == std::string::npos) lines.push_back(line);
  }
  return lines;
}

std::vector<pid_t> TestHosts::pids(std::size_t host, std::string_view program) const {
  std::vector<pid_t> found;
  for (const pid_t pid : members(state_->hosts.at(host)->pid_namespace())) {
    std::string name;
    try {
      name = read_file(fmt::format("/proc/{}/comm", pid));
    } catch (const Error&) {  // it has just ended
    }
    if (name == fmt::format("{}\n", program)) found.push_back(pid);
  }
  return found;
}

void TestHosts::cut(std::size_t host) {
  cut(host, Direction::in);
  cut(host, Direction::out);
}

void TestHosts::cut(std::size_t host, Direction direction) {
  const bool is_in = direction == Direction::in;
  state_->hosts.at(host)->drop(is_in ? "input" : "output", is_in ? "iifname eth0" : "oifname eth0");
}

void TestHosts::cut(std::size_t host, std::size_t other) {
  state_->hosts.at(host)->drop("input", "ip saddr " + address(other));
  state_->hosts.at(host)->drop("output", "ip daddr " + address(other));
}

void TestHosts::cut_from_owner(std::size_t host) {
  state_->hosts.at(host)->drop("input", "ip saddr " + own_address());
  state_->hosts.at(host)->drop("output", "ip daddr " + own_address());
}

void TestHosts::lose(std::size_t host, int percent) {
  state_->hosts.at(host)->drop("input", fmt::format("iifname eth0 numgen random mod 100 < {}", percent));
}

void TestHosts::heal(std::size_t host) {
  state_->relays.erase(host);
  state_->hosts.at(host)->heal();
}
void TestHosts::delay(std::size_t host, const PacketRelayOptions& how) {
  state_->relays.erase(host);
  state_->relays[host] = std::make_unique<PacketRelay>(switch_space(state_->owner), state_->hosts.at(host)->port(), how);
}
void TestHosts::slow(std::size_t host, const std::string& rate) { state_->hosts.at(host)->slow(rate); }
void TestHosts::unplug(std::size_t host) { state_->hosts.at(host)->unplug(); }

void TestHosts::power_off(std::size_t host) {
  state_->hosts.at(host)->unplug();  // first, so that no process can say good-bye
  state_->hosts.at(host)->stop();
}

void TestHosts::change_host_key(std::size_t host) {
  Host& changed = *state_->hosts.at(host);
  changed.stop();
  make_key(changed.folder() / "host_key", "set up anew");
  changed.start();
}

void TestHosts::forget_host_key(std::size_t host) { state_->write_known_hosts(host); }

void TestHosts::refuse_client_key(std::size_t host) {
  write_file_atomically(state_->hosts.at(host)->folder() / "authorized_keys", "# nobody\n");
}

void TestHosts::clean_leftovers() {
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path())) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const pid_t owner = std::atoi(name.c_str() + kPrefix.size());
    if (owner <= 0 || is_alive(owner)) continue;
    remove_network(owner);
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace trireme::tests
