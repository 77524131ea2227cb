// SPDX-License-Identifier: Apache-2.0
// Test hosts for people and benchmarks: trireme_test_hosts up N [RATE] | down.
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/hosts/test_hosts.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

int usage() {
  std::fputs(
      "usage: trireme_test_hosts up N [RATE]   make N hosts, links of RATE (e.g. 1gbit); prints their cluster file and leaves them there\n"
      "       trireme_test_hosts down          end all hosts that 'up' made, and what dead tests left behind\n",
      stderr);
  return 2;
}

void say(int fd, const std::string& text) {
  if (::write(fd, text.data(), text.size()) < 0) std::perror("trireme_test_hosts");
}

// Holds the hosts until it is asked to end.
void keep(int count, const std::string& rate, int tell) {
  ::setsid();
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  try {
    const TestHosts hosts(count, {.rate = rate, .hidden_libraries = {}, .home_mb = 0});
    write_file_atomically(hosts.folder() / "keeper", std::to_string(::getpid()));
    say(tell, hosts.cluster_file().string() + "\n");
    ::close(tell);
    for (const int fd : {0, 1, 2}) ::close(fd);  // a process that waits for our output shall not wait for us
    int number = 0;
    sigwait(&ends, &number);
  } catch (const Error& error) {
    say(tell, std::string("error: ") + error.what() + "\n");
  }
}

int up(int count, const std::string& rate) {
  int ends[2];
  if (::pipe(ends) != 0) return 1;
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::close(ends[0]);
    keep(count, rate, ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) answer.append(buffer, static_cast<std::size_t>(got));
  const bool is_error = answer.empty() || answer.starts_with("error");
  std::fputs(answer.c_str(), is_error ? stderr : stdout);
  return is_error ? 1 : 0;
}

int down() {
  constexpr int kTries = 200;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path())) {
    const fs::path file = entry.path() / "keeper";
    if (!entry.path().filename().string().starts_with("trireme-hosts-") || !fs::exists(file)) continue;
    const pid_t keeper = std::stoi(read_file(file));
    ::kill(keeper, SIGTERM);
    for (int i = 0; i < kTries && ::kill(keeper, 0) == 0; ++i) ::usleep(50'000);
  }
  TestHosts::clean_leftovers();
  return 0;
}

int run(int count, char** words) {
  const std::string_view verb = count > 1 ? words[1] : "";
  if (verb == "down" && count == 2) return down();
  int hosts = 0;
  constexpr int kMost = 200;
  if (verb != "up" || count < 3 || count > 4) return usage();
  std::from_chars(words[2], words[2] + std::strlen(words[2]), hosts);
  if (hosts < 1 || hosts > kMost) return usage();
  return up(hosts, count == 4 ? words[3] : "");
}

}  // namespace
}  // namespace trireme::tests

int main(int count, char** words) {
  try {
    return trireme::tests::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trireme_test_hosts: error: %s\n", error.what());
    return 1;
  }
}
