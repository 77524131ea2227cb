// SPDX-License-Identifier: Apache-2.0
// For tests: this test program once more, as another process that runs one of its disabled tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace trireme::rpc {

// gRPC doesn't live through a fork, so a test that needs a real process starts its own program anew. What the child must know
// comes on its standard input; its answers go to descriptor 3.
class ChildProcess {
 public:
  ChildProcess(const std::string& test, const std::string& input) {
    int in[2];
    int out[2];
    EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], kAnswers);
    std::string filter = "--gtest_filter=" + test;
    std::string disabled = "--gtest_also_run_disabled_tests";
    std::string program = "/proc/self/exe";
    char* arguments[] = {program.data(), filter.data(), disabled.data(), nullptr};
    EXPECT_EQ(::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    ::close(in[0]);
    ::close(in[1]);
    ::close(out[1]);
    answers_ = out[0];
  }
  ~ChildProcess() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(answers_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return process_; }
  void signal(int number) const { ::kill(process_, number); }
  // The next character that the child has said, 0 if it doesn't within 10 s.
  char await_answer() const {
    char answer = 0;
    pollfd waiting{.fd = answers_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 10'000) != 1 || ::read(answers_, &answer, 1) != 1) return 0;
    return answer;
  }

  // In the child.
  static std::string input() {
    std::string out;
    char piece[4096];
    for (ssize_t count = 0; (count = ::read(STDIN_FILENO, piece, sizeof piece)) > 0;) out.append(piece, static_cast<std::size_t>(count));
    return out;
  }
  static void say(char what) { EXPECT_EQ(::write(kAnswers, &what, 1), 1); }

 private:
  static constexpr int kAnswers = 3;
  pid_t process_ = -1;
  int answers_ = -1;
};

}  // namespace trireme::rpc
