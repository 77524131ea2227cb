// SPDX-License-Identifier: Apache-2.0
// One test host: its network, its sshd, and what can be done to them.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "tests/hosts/host_commands.h"
#include "tests/hosts/test_hosts.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/process.h"
#include "trireme/base/testing/wait_until.h"

namespace trireme::tests {

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
    std::filesystem::create_directories(folder_ / "home");
    std::filesystem::permissions(folder_ / "home", std::filesystem::perms::owner_all);
    make_key(folder_ / "host_key", space_);
    add_link();
  }

  void start() {
    write_file_atomically(folder_ / "sshd_config", configuration());
    write_file_atomically(folder_ / "start.sh", start_script());
    const std::filesystem::path log = folder_ / "sshd.log";
    server_ = std::make_unique<Process>(ProcessOptions{
        .argv = in_space(space_, {"unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc", "sh",
                                  (folder_ / "start.sh").string()}),
        .input = {},
        .input_file = {},
        .on_line = [log](Stream, std::string_view line) { OutputFile(log, OutputFile::Mode::append).write(std::string(line) + "\n"); },
        .on_exit = {}});
    const bool is_up =
        wait_until([&] { return server_->status() || run_process(listening(), kLimit).out.find(":22 ") != std::string::npos; }, kLimit);
    if (!is_up || server_->status())
      throw Error{unavailable, "test hosts: sshd of {} did not start: {}", space_,
                  std::filesystem::exists(log) ? read_file(log) : "no output"};
    first_ = first_process();
  }

  void stop() {
    if (!server_) return;
    const std::string pid_space = pid_namespace();
    server_.reset();
    wait_until([&] { return members(pid_space).empty(); }, kLimit);
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
    return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/pid", first_), off).string();
  }
  const std::string& space() const { return space_; }
  std::string port() const { return fmt::format("p{}", index_ + 1); }  // its end of the link at the switch
  const std::string& address() const { return address_; }
  const std::filesystem::path& folder() const { return folder_; }
  pid_t first() const { return first_; }
  std::string public_key() const {
    const std::string line = read_file(folder_ / "host_key.pub");
    return line.substr(0, line.find(' ', line.find(' ') + 1));
  }

 private:
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
  std::filesystem::path folder_;
  std::string address_;
  std::unique_ptr<Process> server_;
  pid_t first_ = -1;
};

}  // namespace trireme::tests
