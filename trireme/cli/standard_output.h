// SPDX-License-Identifier: Apache-2.0
// Standard output that notices when it can't be written, and what a command does when nothing reads it any more.
#pragma once

#include <atomic>
#include <cstdio>
#include <ostream>
#include <streambuf>

namespace trireme::cli {

// Commands that do more than print go on when their output is closed (train job.toml | head); the others end without a word, by SIGPIPE.
void choose_pipe_signal(int argc, const char* const* argv);

// While it lives, what is written to `stream` goes to `file`. The first failure is reported on `err`, and the rest is dropped: writing
// to the stream never fails.
class StandardOutput final : private std::streambuf {
 public:
  StandardOutput(std::ostream& stream, std::FILE* file, std::ostream& err) : stream_(stream), file_(file), err_(err) {
    before_ = stream_.rdbuf(this);
  }
  ~StandardOutput() override { stream_.rdbuf(before_); }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Writes what is left. The exit code of a command that ended with `code`: a failure if its output is not complete for any other reason
  // than that its reader has gone.
  int finish(int code);

 private:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize length) override;
  int sync() override;
  void on_failure(int error);

  std::ostream& stream_;
  std::FILE* file_;
  std::ostream& err_;
  std::streambuf* before_;
  std::atomic<int> error_{0};
};

}  // namespace trireme::cli
