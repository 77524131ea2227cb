// SPDX-License-Identifier: Apache-2.0
// Tests of child processes: input, output, and every way to end.
#include "trireme/base/process.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr milliseconds kSoon = seconds(10);

// A process that is gone has no such file, also if it goes just now; one that no process has waited for yet is a zombie.
bool runs(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  return std::getline(file, stat) && stat.find(") Z") == std::string::npos;
}

// Processes that are not ours to wait for.
bool ends_soon(pid_t pid) {
  const auto end = std::chrono::steady_clock::now() + kSoon;
  while (runs(pid)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

struct Lines {
  std::mutex mutex;
  std::vector<std::string> out;
  std::vector<std::string> err;

  auto taker() {
    return [this](Stream stream, std::string_view line) {
      const std::scoped_lock lock(mutex);
      (stream == Stream::out ? out : err).emplace_back(line);
    };
  }
  std::string wait_for_line() {
    const auto end = std::chrono::steady_clock::now() + kSoon;
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::scoped_lock lock(mutex);
        if (!out.empty()) return out.front();
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
    return "";
  }
};

ProcessOptions shell(const std::string& script, Lines* lines = nullptr) {
  ProcessOptions options;
  options.argv = {"sh", "-c", script};
  if (lines != nullptr) options.on_line = lines->taker();
  return options;
}

TEST(Process, LinesAndCode) {
  Lines lines;
  Process process(shell("echo one; echo two >&2; printf 'three\\r\\nlast'; exit 3", &lines));
  const auto status = process.wait_for(kSoon);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 3);
  EXPECT_EQ(status->in_words(), "exited with code 3");
  EXPECT_THAT(lines.out, ElementsAre("one", "three", "last"));
  EXPECT_THAT(lines.err, ElementsAre("two"));
}

TEST(Process, ArgumentsAreNotForAShell) {
  const ProcessOutput output = run_process({"printf", "%s\n", "$(id); `id` 'x' \"y\" *"}, kSoon);
  EXPECT_EQ(output.out, "$(id); `id` 'x' \"y\" *\n");
}

TEST(Process, InputStaysOpenUntilClosed) {
  Lines lines;
  ProcessOptions options = shell("read a; echo \"$a\"; cat; echo end", &lines);
  options.input = "secret\n";
  Process process(std::move(options));
  EXPECT_EQ(lines.wait_for_line(), "secret");
  EXPECT_FALSE(process.wait_for(milliseconds(50)));
  process.close_input();
  const auto status = process.wait_for(kSoon);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->is_success());
  EXPECT_THAT(lines.out, ElementsAre("secret", "end"));
}

TEST(Process, MoreInputWhileItRuns) {
  Lines lines;
  ProcessOptions options;
  options.argv = {"cat"};
  options.input = "one\n";
  options.on_line = lines.taker();
  Process process(std::move(options));
  EXPECT_EQ(lines.wait_for_line(), "one");
  process.send("two\n");
  process.send("three\n");
  process.close_input();
  ASSERT_TRUE(process.wait_for(kSoon));
  EXPECT_THAT(lines.out, ElementsAre("one", "two", "three"));
}

TEST(Process, LargeInputToAProgramThatReadsNothing) {
  ProcessOptions options = shell("exit 0");
  options.input = std::string(8 << 20, 'x');
  Process process(std::move(options));
  EXPECT_TRUE(process.wait_for(kSoon));
}

TEST(Process, LargeInputAndOutputAtOnce) {
  std::size_t bytes = 0;
  ProcessOptions options;
  options.argv = {"cat"};
  options.input = std::string(4 << 20, 'x');
  options.on_line = [&](Stream, std::string_view line) { bytes += line.size(); };
  Process process(std::move(options));
  while (bytes < 4U << 20 && !process.wait_for(milliseconds(5))) {
  }
  process.close_input();
  ASSERT_TRUE(process.wait_for(kSoon));
  EXPECT_EQ(bytes, 4U << 20);
}

TEST(Process, TerminateAsksFirst) {
  Lines lines;
  Process process(shell("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done", &lines));
  EXPECT_EQ(lines.wait_for_line(), "up");
  EXPECT_EQ(process.terminate(seconds(5)).code, 7);
  EXPECT_THAT(lines.out, ElementsAre("up", "bye"));
}

TEST(Process, TerminateKillsTheDeaf) {
  Lines lines;
  Process process(shell("trap '' TERM; echo up; while :; do sleep 0.01; done", &lines));
  EXPECT_EQ(lines.wait_for_line(), "up");
  EXPECT_EQ(process.terminate(milliseconds(50)).in_words(), "killed by SIGKILL");
}

TEST(Process, AStoppedOneIsEndedToo) {
  ProcessOptions options;
  options.argv = {"sleep", "100"};
  Process process(std::move(options));
  process.signal(SIGSTOP);
  const auto end = std::chrono::steady_clock::now() + kSoon;
  const auto is_stopped = [&] { return read_file(fmt::format("/proc/{}/stat", process.pid())).find(") T") != std::string::npos; };
  while (!is_stopped() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(process.terminate(milliseconds(50)).signal, SIGKILL);
}

TEST(Process, NothingOfItsGroupIsLeft) {
  Lines lines;
  Process process(shell("sleep 100 & echo $!", &lines));
  ASSERT_TRUE(process.wait_for(kSoon));  // though the sleeper holds the output open
  ASSERT_EQ(lines.out.size(), 1U);
  EXPECT_TRUE(ends_soon(std::stoi(lines.out[0])));
}

TEST(Process, DestructionEndsIt) {
  pid_t pid = 0;
  {
    Process process(shell("sleep 100"));
    pid = process.pid();
    EXPECT_TRUE(runs(pid));
  }
  EXPECT_FALSE(runs(pid));
}

TEST(Process, AMissingProgramIsSaid) {
  ProcessOptions options;
  options.argv = {"/no/such/program"};
  EXPECT_EQ(thrown_error([&] { Process process(options); }), "not_found: cannot start /no/such/program: No such file or directory");
}

TEST(Process, NoDescriptorLeaks) {
  const int leaky = ::dup(2);  // without CLOEXEC, as some libraries do it
  const ProcessOutput output = run_process({"ls", "/proc/self/fd"}, kSoon);
  ::close(leaky);
  EXPECT_EQ(output.out, "0\n1\n2\n3\n");  // 3 is ls's own look at the folder
  const auto count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto before = count();
  run_process({"true"}, kSoon);
  EXPECT_EQ(count(), before);
}

TEST(Process, TimeLimit) {
  const ProcessOutput output = run_process({"sh", "-c", "echo begun; sleep 100"}, milliseconds(100));
  EXPECT_FALSE(output.status);
  EXPECT_EQ(output.out, "begun\n");
}

// The launcher may be killed without a chance to clean up.
TEST(Process, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    Process process(shell("sleep 100"));
    const pid_t pid = process.pid();
    if (::write(ends[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    ::raise(SIGKILL);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ::waitpid(launcher, nullptr, 0);
  EXPECT_TRUE(ends_soon(child));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace trireme
