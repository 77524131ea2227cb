// SPDX-License-Identifier: Apache-2.0
// One record a machine, one a node, and one row a step.
#include "trireme/train/telemetry/telemetry_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "trireme/base/files.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kMostRows = 200'000;  // of a node; sums go on in telemetry.jsonl
constexpr double kSilence = 2.5;             // seconds after which another node tells of its machine
constexpr std::string_view kColumns =
    "step,epoch,start,seconds,samples,input_wait,forward,backward,exchange_exposed,optimizer,idle,read,decode,exchange,"
    "bytes_sent,bytes_received,staleness\n";

std::string row_of(const observe::StepAnatomy& s) {
  return fmt::format("{},{},{:.6f},{:.3g},{},{:.3g},{:.3g},{:.3g},{:.3g},{:.3g},{:.3g},{:.3g},{:.3g},{:.3g},{},{},{}\n", s.step,
                     s.epoch + 1, s.start, s.seconds, s.samples, s.input_wait, s.forward, s.backward, s.exchange_exposed, s.optimizer,
                     s.idle, s.read, s.decode, s.exchange, s.bytes_sent, s.bytes_received, s.staleness);
}

void add(observe::StepAnatomy& sum, const observe::StepAnatomy& step) {
  sum.step = std::max(sum.step, step.step);
  sum.seconds += step.seconds;
  sum.samples += step.samples;
  sum.input_wait += step.input_wait;
  sum.forward += step.forward;
  sum.backward += step.backward;
  sum.exchange_exposed += step.exchange_exposed;
  sum.optimizer += step.optimizer;
  sum.idle += step.idle;
  sum.read += step.read;
  sum.decode += step.decode;
  sum.exchange += step.exchange;
}

}  // namespace

TelemetryRecorder::TelemetryRecorder(const std::filesystem::path& run)
    : steps_(run / "steps"),
      // A record's time is that of its measurement, not of its arrival.
      journal_(run / "telemetry.jsonl", [this] {
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::duration<double>(last_time_)));
      }) {
  make_directories(steps_);
}

void TelemetryRecorder::hear(const std::string& node, const std::string& host, const TelemetryReport& report) {
  last_time_ = report.time;
  if (report.seconds > 0 && tells_of_machine(node, host, report.time)) write_machine(node, host, report);
  write_node(node, host, report);
  write_steps(node, report);
}

// Several nodes of a machine would tell the same.
bool TelemetryRecorder::tells_of_machine(const std::string& node, const std::string& host, double time) {
  Teller& teller = tellers_[host];
  if (teller.node != node && time < teller.time + kSilence) return false;
  teller = {.node = node, .time = time};
  return true;
}

void TelemetryRecorder::write_machine(const std::string& node, const std::string& host, const TelemetryReport& report) {
  const observe::MachineSample& machine = report.machine;
  observe::Fields fields{{"host", host},
                         {"node", node},
                         {"seconds", report.seconds},
                         {"cores", machine.cores},
                         {"cpu_user", machine.cpu_user},
                         {"cpu_system", machine.cpu_system},
                         {"cpu_wait", machine.cpu_wait},
                         {"cpu_idle", machine.cpu_idle},
                         {"load", machine.load},
                         {"memory_bytes", machine.memory_bytes},
                         {"memory_total_bytes", machine.memory_total_bytes},
                         {"network_in_bytes", machine.network_in_bytes},
                         {"network_out_bytes", machine.network_out_bytes},
                         {"loopback_bytes", machine.loopback_bytes},
                         {"disk_read_bytes", machine.disk_read_bytes},
                         {"disk_write_bytes", machine.disk_write_bytes}};
  if (machine.temperature) fields.emplace_back("temperature", *machine.temperature);
  if (machine.frequency_mhz) fields.emplace_back("frequency_mhz", *machine.frequency_mhz);
  if (machine.energy_joules) fields.emplace_back("energy_joules", *machine.energy_joules);
  fields.emplace_back("baseline", report.is_baseline);
  journal_.write("machine", fields);
}

void TelemetryRecorder::write_node(const std::string& node, const std::string& host, const TelemetryReport& report) {
  observe::StepAnatomy sum;
  for (const observe::StepAnatomy& step : report.steps) add(sum, step);
  observe::Fields fields{{"node", node},
                         {"host", host},
                         {"rank", std::int64_t{report.duty.rank}},
                         {"duty", report.duty.what},
                         {"generation", static_cast<std::int64_t>(report.duty.generation)}};
  if (report.duty.share > 0) fields.emplace_back("share", report.duty.share);
  const observe::Fields measured{{"window_seconds", report.seconds},
                                 {"cpu_user_seconds", report.process.cpu_user_seconds},
                                 {"cpu_system_seconds", report.process.cpu_system_seconds},
                                 {"memory_bytes", report.process.memory_bytes},
                                 {"bytes_sent", report.traffic.sent},
                                 {"bytes_received", report.traffic.received}};
  if (report.seconds > 0) fields.insert(fields.end(), measured.begin(), measured.end());
  const observe::Fields sums{
      {"baseline", report.is_baseline}, {"step", sum.step},         {"steps", static_cast<std::int64_t>(report.steps.size())},
      {"samples", sum.samples},         {"seconds", sum.seconds},   {"input_wait", sum.input_wait},
      {"forward", sum.forward},         {"backward", sum.backward}, {"exchange_exposed", sum.exchange_exposed},
      {"optimizer", sum.optimizer},     {"idle", sum.idle},         {"read", sum.read},
      {"decode", sum.decode},           {"exchange", sum.exchange}};
  fields.insert(fields.end(), sums.begin(), sums.end());
  journal_.write("node", fields);
}

void TelemetryRecorder::write_steps(const std::string& node, const TelemetryReport& report) {
  if (report.steps.empty()) return;
  StepFile& to = files_[node];
  if (!to.file.is_open()) {
    const std::filesystem::path path = steps_ / (node + ".csv");
    const bool is_new = !std::filesystem::exists(path);
    to.file.open(path, std::ios::app);
    if (is_new) to.file << kColumns;
  }
  for (const observe::StepAnatomy& step : report.steps)
    if (++to.rows <= kMostRows) to.file << row_of(step);
  to.file.flush();
}

}  // namespace trireme::train
