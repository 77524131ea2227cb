// SPDX-License-Identifier: Apache-2.0
// Writes what nodes measure into a run's telemetry.jsonl and steps/NODE.csv; docs/journal.md has the schema.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "trireme/observe/append_file.h"
#include "trireme/observe/journal.h"
#include "trireme/train/telemetry/telemetry.h"

namespace trireme::train {

// Not for several threads at once.
class TelemetryRecorder {
 public:
  // Appends to what a run has already.
  // With a watch, what a disk refuses waits in memory.
  explicit TelemetryRecorder(const std::filesystem::path& run, observe::AppendWatch* watch = nullptr);

  void record(const std::string& node, const std::string& host, const TelemetryReport& report);
  void retry();  // to write what waits

 private:
  struct Reporter {
    std::string node;
    double time = 0;
  };
  struct StepFile {
    StepFile(std::filesystem::path path, observe::AppendWatch* watch) : file(std::move(path), observe::AppendFile::Mode::append, watch) {}
    observe::AppendFile file;
    std::int64_t rows = 0;
  };
  bool reports_machine(const std::string& node, const std::string& host, double time);
  void write_machine(const std::string& node, const std::string& host, const TelemetryReport& report);
  void write_node(const std::string& node, const std::string& host, const TelemetryReport& report);
  void write_steps(const std::string& node, const TelemetryReport& report);

  StepFile& step_file(const std::string& node);

  std::filesystem::path steps_;
  observe::AppendWatch* watch_;
  double last_time_ = 0;
  observe::Journal journal_;
  std::map<std::string, Reporter> reporters_;  // by host
  std::map<std::string, StepFile> files_;      // by node
};

}  // namespace trireme::train
