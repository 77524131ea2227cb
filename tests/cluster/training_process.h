// SPDX-License-Identifier: Apache-2.0
// `trireme train` as a process of a test, with a folder of its own.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/process.h"
#include "trireme/base/testing/wait_until.h"
#include "trireme/observe/journal_reader.h"

namespace trireme::tests {

class TrainingProcess {
 public:
  explicit TrainingProcess(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TRIREME_BINARY, "train"});
    process_ = std::make_unique<Process>(ProcessOptions{.argv = std::move(arguments),
                                                        .on_line =
                                                            [this](Stream, std::string_view line) {
                                                              const std::lock_guard lock(mutex_);
                                                              text_ += fmt::format("{}\n", line);
                                                            },
                                                        .on_exit = {}});
  }

  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool says(const std::string& words, std::chrono::seconds within = std::chrono::seconds(20)) const {
    return wait_until([&] { return text().find(words) != std::string::npos; }, within);
  }
  pid_t pid() const { return process_->pid(); }
  void signal(int number) { ::kill(process_->pid(), number); }
  // Its exit code, or minus the signal that ended it; it has two minutes.
  int wait() {
    const auto status = process_->wait_for(std::chrono::minutes(2));
    if (!status) return -1000;
    return status->signal != 0 ? -status->signal : status->code;
  }
  // Processes that it started and that are still there.
  std::vector<pid_t> children() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::string stat;
      try {
        stat = read_file(entry.path() / "stat");
      } catch (const Error&) {
        continue;  // gone meanwhile
      }
      // "pid (name) state parent ..."
      int parent = 0;
      char state = 0;
      if (std::sscanf(stat.substr(stat.rfind(')') + 1).c_str(), " %c %d", &state, &parent) == 2 && parent == process_->pid() &&
          state != 'Z')
        found.push_back(std::stoi(name));
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
  std::unique_ptr<Process> process_;
};

// A folder with runs and a cache of their own.
class TrainingFolder : public testing::Test {
 protected:
  TrainingFolder() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("trireme_cluster_{}", ::getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  ~TrainingFolder() override { std::filesystem::remove_all(folder_); }

  void write_job(const std::string& text) const { write_file_atomically(folder_ / "job.toml", text); }
  TrainingProcess begin(const std::string& runs, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{(folder_ / "job.toml").string(), "--runs", (folder_ / runs).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return TrainingProcess(std::move(arguments));
  }
  bool comes_to(const std::string& runs, std::int64_t step) const {
    return wait_until([&] { return steps(runs) > step; }, std::chrono::seconds(60));
  }

  std::filesystem::path latest(const std::string& runs) const { return folder_ / runs / "latest"; }
  std::int64_t steps(const std::string& runs) const {
    std::int64_t count = 0;
    if (!std::filesystem::exists(latest(runs) / "journal.jsonl")) return 0;
    for (const auto& record : observe::read_journal(latest(runs) / "journal.jsonl")) count += record.type == "step" ? 1 : 0;
    return count;
  }
  std::vector<observe::Record> records(const std::string& runs, const std::string& type) const {
    std::vector<observe::Record> out;
    for (const auto& record : observe::read_journal(latest(runs) / "journal.jsonl"))
      if (record.type == type) out.push_back(record);
    return out;
  }
  std::string final_model(const std::string& runs) const {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(latest(runs) / "checkpoints")) newest = std::max(newest, entry.path());
    std::string bytes = read_file(newest / "model.safetensors") + read_file(newest / "optimizer.safetensors");
    if (std::filesystem::exists(newest / "best.safetensors")) bytes += read_file(newest / "best.safetensors");
    return bytes;
  }

  std::filesystem::path folder_;
};

}  // namespace trireme::tests
