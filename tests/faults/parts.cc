// SPDX-License-Identifier: Apache-2.0
// Programs of this build, run to their end.
#include "tests/faults/parts.h"

#include <fmt/format.h>

#include <filesystem>
#include <mutex>

#include "trireme/base/process.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kTestsLimit{150};

Ended run(std::vector<std::string> words, std::chrono::seconds limit) {
  Ended ended;
  std::mutex mutex;
  const auto start = std::chrono::steady_clock::now();
  Process process({.argv = std::move(words),
                   .on_line =
                       [&](Stream, std::string_view line) {
                         const std::lock_guard lock(mutex);
                         ended.text += fmt::format("{}\n", line);
                       },
                   .on_exit = {}});
  const auto status = process.wait_for(limit);
  ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ended.code = !status ? -1000 : status->signal != 0 ? -status->signal : status->code;
  return ended;
}

// "[  PASSED  ] 12 tests."
int passed(const std::string& text) {
  constexpr std::string_view kMark = "[  PASSED  ] ";
  const std::size_t at = text.find(kMark);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + kMark.size());
}

}  // namespace

Ended run_trireme(const std::vector<std::string>& arguments, std::chrono::seconds limit) {
  std::vector<std::string> words{TRIREME_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(std::move(words), limit);
}

int run_tests(const std::string& program, const std::string& filter, Outcome& outcome) {
  const fs::path path = fs::path(TRIREME_BINARY).parent_path() / program;
  if (!fs::exists(path)) {
    outcome.problems.push_back(fmt::format("{} is not built; cmake --build build/dev --target {}", program, path.filename().string()));
    return 0;
  }
  const Ended ended = run({path.string(), "--gtest_brief=1", "--gtest_filter=" + filter}, kTestsLimit);
  const int count = passed(ended.text);
  if (ended.code != 0 || count == 0) outcome.problems.push_back(fmt::format("{} {}: {}", program, filter, ended.text));
  return count;
}

}  // namespace trireme::tests
