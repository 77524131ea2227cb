// SPDX-License-Identifier: Apache-2.0
// Programs of the system, run and checked.
#include "tests/hosts/host_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/process.h"

namespace trireme::tests {

namespace fs = std::filesystem;

namespace {

// It has ended, and only waits for the system's first process to take note, which can take seconds.
bool is_zombie(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string stat;
  std::getline(file, stat);
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

}  // namespace

void must(const Words& argv) {
  const ProcessOutput output = run_process(argv, kLimit);
  if (!output.status || !output.status->is_success())
    throw Error{failed_precondition, "test hosts: '{}' failed: {}{}", fmt::join(argv, " "), output.out, output.err};
}

Words in_space(const std::string& space, const Words& argv) {
  Words words{"ip", "netns", "exec", space};
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

fs::path folder_of(pid_t owner) { return fs::temp_directory_path() / fmt::format("{}{}", kPrefix, owner); }
std::string switch_space(pid_t owner) { return fmt::format("trireme-{}-switch", owner); }
std::string host_space(pid_t owner, std::size_t host) { return fmt::format("trireme-{}-h{}", owner, host + 1); }
std::string own_link(pid_t owner) { return fmt::format("trm{}", owner); }

void make_key(const fs::path& path, std::string_view comment) {
  fs::remove(path);
  must({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", std::string(comment), "-f", path.string()});
}

std::string user_name() { return ::getpwuid(::geteuid())->pw_name; }
std::string user_home() { return ::getpwuid(::geteuid())->pw_dir; }

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

}  // namespace trireme::tests
