// SPDX-License-Identifier: Apache-2.0
// Namespaces, links, keys and servers of test hosts.
#include "tests/hosts/test_hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;
using cluster::Process;
using cluster::ProcessOutput;
using cluster::run_process;
using Words = std::vector<std::string>;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kLimit = seconds(20);                          // of any command here
constexpr std::string_view kPassedOn = "TRIREME_FAILPOINTS";  // environment variables that the client sends and hosts take
constexpr std::string_view kPrefix = "trireme-hosts-";

void must(const Words& argv) {
  const ProcessOutput output = run_process(argv, kLimit);
  if (!output.status || !output.status->is_success())
    throw Error{failed_precondition, "test hosts: '{}' failed: {}{}", fmt::join(argv, " "), output.out, output.err};
}

fs::path folder_of(pid_t owner) { return fs::temp_directory_path() / fmt::format("{}{}", kPrefix, owner); }
std::string switch_space(pid_t owner) { return fmt::format("trireme-{}-switch", owner); }
std::string host_space(pid_t owner, std::size_t host) { return fmt::format("trireme-{}-h{}", owner, host + 1); }
std::string own_link(pid_t owner) { return fmt::format("trm{}", owner); }

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

Words in_space(const std::string& space, const Words& argv) {
  Words words{"ip", "netns", "exec", space};
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

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

// A network that nobody here uses yet.
int free_network(pid_t owner) {
  constexpr int kNetworks = 250;
  for (int i = 0; i < kNetworks; ++i) {
    const int network = (owner + i) % kNetworks + 1;
    const ProcessOutput routes = run_process({"ip", "route", "show", fmt::format("10.213.{}.0/24", network)}, kLimit);
    if (routes.out.empty()) return network;
  }
  throw Error{resource_exhausted, "test hosts: all networks 10.213.x.0/24 are in use; clean up: trireme_test_hosts down"};
}

void make_key(const fs::path& path, std::string_view comment) {
  fs::remove(path);
  must({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", std::string(comment), "-f", path.string()});
}

std::string user_name() { return ::getpwuid(::geteuid())->pw_name; }
std::string user_home() { return ::getpwuid(::geteuid())->pw_dir; }

// It has ended, and only waits for the system's first process to take note, which can take seconds.
bool is_zombie(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string stat;
  std::getline(file, stat);
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

// Processes of a namespace, seen from outside.
std::vector<pid_t> members(const std::string& pid_space) {
  std::vector<pid_t> pids;
  if (pid_space.empty()) return pids;  // the host is off
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code gone;
    if (fs::read_symlink(entry.path() / "ns/pid", gone) == pid_space && !gone && !is_zombie(entry.path())) pids.push_back(std::stoi(name));
  }
  return pids;
}

template <class Condition>
bool await(Condition condition, milliseconds limit = kLimit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

void remove_network(pid_t owner) {
  const ProcessOutput list = run_process({"ip", "netns", "list"}, kLimit);
  for (std::size_t at = 0; at < list.out.size(); at = list.out.find('\n', at) + 1) {
    const std::string space = list.out.substr(at, list.out.find_first_of(" \n", at) - at);
    if (space.starts_with(fmt::format("trireme-{}-", owner))) run_process({"ip", "netns", "del", space}, kLimit);
  }
  run_process({"ip", "link", "del", own_link(owner)}, kLimit);
}

// One host: its namespaces live as long as its first process, sshd.
class Host {
 public:
  Host(pid_t owner, std::size_t index, int network, HostOptions options)
      : index_(index),
        options_(std::move(options)),
        space_(host_space(owner, index)),
        switch_(switch_space(owner)),
        folder_(folder_of(owner) / fmt::format("h{}", index + 1)),
        address_(fmt::format("10.213.{}.{}", network, index + 1)) {
    fs::create_directories(folder_ / "home");
    fs::permissions(folder_ / "home", fs::perms::owner_all);
    make_key(folder_ / "host_key", space_);
    add_link();
  }

  void start() {
    write_file_atomically(folder_ / "sshd_config", configuration());
    write_file_atomically(folder_ / "start.sh", start_script());
    const fs::path log = folder_ / "sshd.log";
    server_ = std::make_unique<Process>(cluster::ProcessOptions{
        .argv = in_space(space_, {"unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc", "sh",
                                  (folder_ / "start.sh").string()}),
        .input = {},
        .input_file = {},
        .on_line = [log](cluster::Stream,
                         std::string_view line) { OutputFile(log, OutputFile::Mode::append).write(std::string(line) + "\n"); },
        .on_exit = {}});
    const bool is_up = await([&] { return server_->status() || run_process(listening(), kLimit).out.find(":22 ") != std::string::npos; });
    if (!is_up || server_->status())
      throw Error{unavailable, "test hosts: sshd of {} did not start: {}", space_, fs::exists(log) ? read_file(log) : "no output"};
    first_ = first_process();
  }

  void stop() {
    if (!server_) return;
    const std::string pid_space = pid_namespace();
    server_.reset();
    await([&] { return members(pid_space).empty(); });
  }

  Words enter(const Words& argv) const {
    Words words{"nsenter", "-t", fmt::format("{}", first_), "-m", "-n", "-p", "-u", "--"};
    words.insert(words.end(), argv.begin(), argv.end());
    return words;
  }

  // Rules of a table of its own; the first makes the table.
  void drop(const std::string& chain, const std::string& which) const {
    must(in_space(space_, {"nft", fmt::format("add table inet faults; add chain inet faults {0} {{ type filter hook {0} priority 0; }}; "
                                              "add rule inet faults {0} {1} drop",
                                              chain, which)}));
  }
  void heal() const {
    run_process(in_space(space_, {"nft", "delete table inet faults"}), kLimit);
    must({"ip", "-n", space_, "link", "set", "eth0", "up"});
  }
  void unplug() const { must({"ip", "-n", space_, "link", "set", "eth0", "down"}); }
  void slow(const std::string& rate) const {
    for (const auto& [space, device] : {std::pair{space_, std::string("eth0")}, std::pair{switch_, port()}})
      must({"tc", "-n", space, "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, "burst", "256kb", "latency", "50ms"});
  }

  std::string pid_namespace() const {
    std::error_code off;
    return fs::read_symlink(fmt::format("/proc/{}/ns/pid", first_), off).string();
  }
  const std::string& space() const { return space_; }
  const std::string& address() const { return address_; }
  const fs::path& folder() const { return folder_; }
  pid_t first() const { return first_; }
  std::string public_key() const {
    const std::string line = read_file(folder_ / "host_key.pub");
    return line.substr(0, line.find(' ', line.find(' ') + 1));
  }

 private:
  std::string port() const { return fmt::format("p{}", index_ + 1); }  // its end of the link at the switch
  Words listening() const { return in_space(space_, {"ss", "-Hltn", "sport", "=", ":22"}); }

  void add_link() const {
    must({"ip", "netns", "add", space_});
    must({"ip", "-n", switch_, "link", "add", port(), "type", "veth", "peer", "name", "eth0", "netns", space_});
    must({"ip", "-n", switch_, "link", "set", port(), "master", "br0", "up"});
    must({"ip", "-n", space_, "addr", "add", address_ + "/24", "dev", "eth0"});
    must({"ip", "-n", space_, "link", "set", "eth0", "up"});
    must({"ip", "-n", space_, "link", "set", "lo", "up"});
    // The default may be bbr, which throttles links like these.
    must(in_space(space_, {"sh", "-c", "echo reno > /proc/sys/net/ipv4/tcp_congestion_control"}));
    if (!options_.rate.empty()) slow(options_.rate);
  }

  std::string configuration() const {
    return fmt::format(
        "Port 22\nListenAddress {}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nPubkeyAuthentication yes\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPrintMotd no\nMaxStartups 100\n"
        "AcceptEnv {}\n",
        address_, (folder_ / "host_key").string(), (folder_ / "authorized_keys").string(), kPassedOn);
  }

  std::string start_script() const {
    const std::string home = (folder_ / "home").string();
    std::string script = fmt::format("set -e\nhostname h{}\n", index_ + 1);
    if (options_.home_mb > 0) script += fmt::format("mount -t tmpfs -o size={}m tmpfs {}\n", options_.home_mb, home);
    script += fmt::format("mount --bind {} {}\nmount -t tmpfs tmpfs /run\nmkdir /run/sshd\n", home, user_home());
    if (!options_.hidden_libraries.empty())
      script +=
          "libs=$(dirname $(readlink -f /usr/lib/*-linux-gnu/libc.so.6))\nmkdir /run/upper /run/work\n"
          "mount -t overlay overlay -o lowerdir=$libs,upperdir=/run/upper,workdir=/run/work $libs\n";
    for (const std::string& library : options_.hidden_libraries) script += fmt::format("rm $libs/{}\n", library);
    return script + fmt::format("exec /usr/sbin/sshd -D -e -f {}\n", (folder_ / "sshd_config").string());
  }

  // unshare's child: it is the first in the host's namespace of processes.
  pid_t first_process() const {
    const std::string children = read_file(fmt::format("/proc/{}/task/{}/children", server_->pid(), server_->pid()));
    ensure(!children.empty(), "unshare has a child");
    return std::stoi(children);
  }

  std::size_t index_;
  HostOptions options_;
  std::string space_;
  std::string switch_;
  fs::path folder_;
  std::string address_;
  std::unique_ptr<Process> server_;
  pid_t first_ = -1;
};

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

void TestHosts::heal(std::size_t host) { state_->hosts.at(host)->heal(); }
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
