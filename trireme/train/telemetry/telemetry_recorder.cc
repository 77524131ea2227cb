// SPDX-License-Identifier: Apache-2.0
// One record per machine, one per node, and one row per step.
#include "trireme/train/telemetry/telemetry_recorder.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include "trireme/base/files.h"
#include "trireme/observe/record_fields.h"
#include "trireme/observe/record_table.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kMaxRows = 200'000;  // of a node; sums go on in telemetry.jsonl
constexpr double kSilence = 2.5;            // seconds after which another node reports its machine

// A run of an older version goes on under the names of this one.
bool begins_with(const std::filesystem::path& file, const std::string& columns) {
  std::ifstream in(file);
  std::string line;
  return std::getline(in, line) && line + "\n" == columns;
}

}  // namespace

TelemetryRecorder::TelemetryRecorder(const std::filesystem::path& run, observe::AppendWatch* watch)
    : steps_(run / "steps"),
      watch_(watch),
      // A record's time is that of its measurement, not of its arrival.
      journal_(
          run / "telemetry.jsonl",
          [this] {
            return std::chrono::system_clock::time_point(
                std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::duration<double>(last_time_)));
          },
          watch) {
  make_directories(steps_);
}

void TelemetryRecorder::record(const std::string& node, const std::string& host, const TelemetryReport& report) {
  last_time_ = report.time;
  if (report.seconds > 0 && reports_machine(node, host, report.time)) write_machine(node, host, report);
  write_node(node, host, report);
  write_steps(node, report);
}

// Several nodes of a machine would report the same.
bool TelemetryRecorder::reports_machine(const std::string& node, const std::string& host, double time) {
  Reporter& reporter = reporters_[host];
  if (reporter.node != node && time < reporter.time + kSilence) return false;
  reporter = {.node = node, .time = time};
  return true;
}

void TelemetryRecorder::write_machine(const std::string& node, const std::string& host, const TelemetryReport& report) {
  observe::Fields fields{{"host", host}, {"node", node}, {"seconds", report.seconds}};
  observe::append_fields(fields, report.machine);
  fields.emplace_back("baseline", report.is_baseline);
  journal_.write("machine", fields);
}

void TelemetryRecorder::write_node(const std::string& node, const std::string& host, const TelemetryReport& report) {
  observe::Fields fields{{"node", node}, {"host", host}};
  observe::append_fields(fields, report);
  fields.emplace_back("steps", static_cast<std::int64_t>(report.steps.size()));
  observe::StepAnatomy sum;
  for (const observe::StepAnatomy& step : report.steps) observe::combine(sum, step);
  observe::append_combined_fields(fields, sum);
  journal_.write("node", fields);
}

void TelemetryRecorder::write_steps(const std::string& node, const TelemetryReport& report) {
  if (report.steps.empty()) return;
  StepFile& to = step_file(node);
  const auto count = std::min<std::int64_t>(std::ssize(report.steps), kMaxRows - to.rows);
  if (count <= 0) return;
  std::string rows;
  for (std::int64_t i = 0; i < count; ++i) rows += observe::row_of(report.steps[static_cast<std::size_t>(i)]);
  to.file.append(rows, count);
  to.rows += count;
}

TelemetryRecorder::StepFile& TelemetryRecorder::step_file(const std::string& node) {
  const auto known = files_.find(node);
  if (known != files_.end()) return known->second;
  const std::filesystem::path path = steps_ / (node + ".csv");
  static const std::string kColumns = observe::column_names<observe::StepAnatomy>();
  const bool has_columns = begins_with(path, kColumns);
  StepFile& made = files_.try_emplace(node, path, watch_).first->second;
  if (!has_columns) made.file.append(kColumns, 0);
  return made;
}

void TelemetryRecorder::retry() {
  journal_.flush();
  for (auto& [node, steps] : files_) steps.file.retry();
}

}  // namespace trireme::train
