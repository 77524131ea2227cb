// SPDX-License-Identifier: Apache-2.0
// For tests of the checker: a training's history, written line by line as its processes would write it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/faults/checker.h"
#include "trireme/base/files.h"

namespace trireme::tests {

// Times are seconds after an arbitrary beginning.
class WrittenHistory {
 public:
  void generation(std::int64_t number, const std::string& members, const std::string& coordinator = "coordinator-1") {
    line(coordinator, fmt::format(R"("type":"generation","generation":{},"members":"{}")", number, members));
  }
  void commit(std::int64_t generation, std::int64_t step, const std::string& coordinator = "coordinator-1") {
    line(coordinator,
         fmt::format(R"("type":"commit","generation":{},"step":{},"epoch":0,"offset":0,"directory":"step-{:08}")", generation, step, step));
  }

  // What the checker says of it.
  std::vector<std::string> violations(const Observed& observed = {}) const {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / fmt::format("trireme_history_{}", ::getpid());
    for (const auto& [file, text] : files_) write_file_atomically(folder / (file + ".jsonl"), text);
    std::vector<std::string> words;
    const History history = read_history(folder);
    for (const Violation& violation : check(history, observed)) words.push_back(violation.in_words());
    std::filesystem::remove_all(folder);
    return words;
  }

 protected:
  // Of the process that writes `file`.
  void line(const std::string& file, const std::string& fields) {
    time_ += 0.01;
    files_[file] += fmt::format("{{{},\"time\":{}}}\n", fields, time_);
  }

 private:
  double time_ = 1000;
  std::map<std::string, std::string> files_;
};

}  // namespace trireme::tests
