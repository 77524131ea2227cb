// SPDX-License-Identifier: Apache-2.0
// A child process: an argument vector (never a shell), a held-open standard input, output line by line, a sure end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme {

struct ExitStatus {
  int code = 0;
  int signal = 0;  // 0: it ended by itself

  bool is_success() const { return code == 0 && signal == 0; }
  std::string in_words() const;  // "exited with code 3", "killed by SIGKILL"
};

enum class Stream { out, err };

struct ProcessOptions {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  // Written to standard input, which then stays open: its closing signals to the child that we are gone, however we went.
  // It may hold secrets: it is wiped once written.
  std::string input;
  std::filesystem::path input_file;  // standard input instead: the whole file, then the end
  std::filesystem::path directory;   // in which it runs; empty: ours
  bool outlives_us = false;          // it is not killed if this process dies; it learns of that by the end of its input
  // Both are called from a thread of the process's own, one call at a time; they must not throw. Lines have no end mark.
  std::function<void(Stream, std::string_view line)> on_line;
  std::function<void(Stream, std::string_view bytes)> on_bytes;  // instead of lines: all that it writes, as it comes
  std::function<void(const ExitStatus&)> on_exit;                // after the last line
};

// The child is in a process group of its own and is killed if this process dies, unless it may outlive that. When it ends, what is left of
// its group is killed as well. No descriptor of ours is open in it but the standard three.
class Process {
 public:
  explicit Process(ProcessOptions options);  // throws if the program can't be started
  ~Process();                                // ends it at once
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const;
  std::optional<ExitStatus> status() const;  // none: it runs
  std::optional<ExitStatus> wait_for(std::chrono::milliseconds timeout);

  void send(std::string_view text);  // more for its standard input, after what was given before
  void close_input();                // once everything that was given is written
  void signal(int number);           // to its group; nothing happens if it has ended
  // Closes its input, asks it to end (SIGTERM), and kills it if it is still there after `grace`.
  ExitStatus terminate(std::chrono::milliseconds grace);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ProcessOutput {
  std::optional<ExitStatus> status;  // none: it was ended after the time limit
  std::string out;
  std::string err;
};

// Runs a command to its end; of each output stream at most a mebibyte is kept.
ProcessOutput run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                          const std::filesystem::path& input_file = {});

}  // namespace trireme
