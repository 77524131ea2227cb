// SPDX-License-Identifier: Apache-2.0
// Processes through posix_spawn.
#include "trireme/fetch/process.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "trireme/base/child_signals.h"
#include "trireme/base/error.h"

namespace trireme::fetch {
namespace {

constexpr std::size_t kKept = 1 << 20;    // bytes of each stream; the rest is read and dropped
constexpr std::size_t kQuoted = 1 << 10;  // bytes of stderr in a message

class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error{resource_exhausted, "cannot open a pipe: {}", std::strerror(errno)};
    read_ = ends[0];
    write_ = ends[1];
  }
  ~Pipe() {
    ::close(read_);
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int write_end() const { return write_; }
  void close_write() {
    if (write_ >= 0) ::close(write_);
    write_ = -1;
  }
  pollfd waiting() const { return {.fd = open_ ? read_ : -1, .events = POLLIN, .revents = 0}; }
  bool open() const { return open_; }
  const std::string& text() const { return text_; }

  void take() {
    std::array<char, 4096> piece{};
    const ssize_t count = ::read(read_, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) return;
    open_ = count > 0;
    if (open_ && text_.size() < kKept) text_.append(piece.data(), static_cast<std::size_t>(count));
  }

 private:
  int read_ = -1;
  int write_ = -1;
  bool open_ = true;
  std::string text_;
};

pid_t start(const std::vector<std::string>& arguments, const std::filesystem::path& directory, const Pipe& out, const Pipe& err) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  pid_t child = 0;
  const int fault = ::posix_spawnp(&child, argv[0], &actions, ChildSignals().attributes(), argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (fault == ENOENT) throw Error{unavailable, "{} is not installed here", arguments[0]};
  if (fault != 0) throw Error{unavailable, "{} cannot be started: {}", arguments[0], std::strerror(fault)};
  return child;
}

// Until both streams end; false if time is up first.
bool listen(Pipe& out, Pipe& err, Seconds limit) {
  const SteadyClock clock;
  const Seconds end = clock.now() + limit;
  while (out.open() || err.open()) {
    const Seconds left = end - clock.now();
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> waiting{out.waiting(), err.waiting()};
    const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(left.count() * 1000) + 1);
    if (ready <= 0) continue;
    if (waiting[0].revents != 0) out.take();
    if (waiting[1].revents != 0) err.take();
  }
  return true;
}

// The end of stderr, where programs say why they gave up.
std::string last_words(const std::string& text) {
  std::string words = text.size() > kQuoted ? "..." + text.substr(text.size() - kQuoted) : text;
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words;
}

}  // namespace

std::string run_process(const std::vector<std::string>& arguments, const std::filesystem::path& directory, Seconds limit) {
  Pipe out;
  Pipe err;
  const pid_t child = start(arguments, directory, out, err);
  out.close_write();
  err.close_write();
  const bool ended = listen(out, err, limit);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string command = fmt::format("{}", fmt::join(arguments, " "));
  if (!ended) throw Error{unavailable, "'{}' took longer than {:.0f} s", command, limit.count()};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out.text();
  const std::string how = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status)) : fmt::format("signal {}", WTERMSIG(status));
  throw Error{unavailable, "'{}' failed ({}): {}", command, how, last_words(err.text())};
}

}  // namespace trireme::fetch
