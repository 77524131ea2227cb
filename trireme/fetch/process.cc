// SPDX-License-Identifier: Apache-2.0
// A child process whose failure is a reason to look for the file elsewhere.
#include "trireme/fetch/process.h"

#include <fmt/ranges.h>

#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/process.h"

namespace trireme::fetch {
namespace {

constexpr std::size_t kKept = 1 << 20;    // bytes of each stream; the rest is read and dropped
constexpr std::size_t kQuoted = 1 << 10;  // bytes of stderr in a message

struct Output {
  std::string out, err;

  void add(Stream stream, std::string_view bytes) {
    std::string& text = stream == Stream::out ? out : err;
    if (text.size() < kKept) text.append(bytes);
  }
};

std::unique_ptr<Process> start(const std::vector<std::string>& arguments, const std::filesystem::path& directory, Output& output) {
  try {
    return std::make_unique<Process>(
        ProcessOptions{.argv = arguments,
                       .input = {},
                       .input_file = "/dev/null",
                       .directory = directory,
                       .on_line = {},
                       .on_bytes = [&output](Stream stream, std::string_view bytes) { output.add(stream, bytes); },
                       .on_exit = {}});
  } catch (const Error& error) {  // thrown again as unavailable: only then is the next source tried
    if (error.code() == not_found) throw Error{unavailable, "{} is not installed here", arguments[0]};
    throw Error{unavailable, "{} cannot be started: {}", arguments[0], error.what()};
  }
}

// The end of stderr, where programs say why they gave up.
std::string last_lines(const std::string& text) {
  std::string words = text.size() > kQuoted ? "..." + text.substr(text.size() - kQuoted) : text;
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words;
}

}  // namespace

std::string run_process(const std::vector<std::string>& arguments, const std::filesystem::path& directory, Seconds limit) {
  Output output;
  const std::unique_ptr<Process> process = start(arguments, directory, output);
  const auto status = process->wait_for(std::chrono::duration_cast<std::chrono::milliseconds>(limit));
  const std::string command = fmt::format("{}", fmt::join(arguments, " "));
  if (!status) throw Error{unavailable, "'{}' took longer than {:.0f} s", command, limit.count()};
  if (status->is_success()) return output.out;
  const std::string how = status->signal == 0 ? fmt::format("exit code {}", status->code) : fmt::format("signal {}", status->signal);
  throw Error{unavailable, "'{}' failed ({}): {}", command, how, last_lines(output.err)};
}

}  // namespace trireme::fetch
