// SPDX-License-Identifier: Apache-2.0
// The files of a run directory, each read on from where the last look ended.
#include "trireme/report/read/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>

#include "trireme/base/error.h"
#include "trireme/base/file_lock.h"
#include "trireme/observe/journal_version.h"
#include "trireme/report/judge/limit.h"
#include "trireme/report/judge/prediction.h"
#include "trireme/report/judge/traffic.h"
#include "trireme/report/read/config_rows.h"
#include "trireme/report/read/journal_part.h"
#include "trireme/report/read/learned_part.h"
#include "trireme/report/read/line_tail.h"
#include "trireme/report/read/machine_use.h"
#include "trireme/report/read/node_use.h"
#include "trireme/report/read/profile_part.h"

namespace trireme::report {
namespace {

// The trainer holds it; the system takes it from a process that dies.
bool is_being_trained(const std::filesystem::path& directory) { return is_locked(directory / "lock"); }

std::filesystem::path checked(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) throw Error{not_found, "there is no run {}: {}", path.string(), error.message()};
  if (!std::filesystem::exists(real / "journal.jsonl", error) && !std::filesystem::exists(real / "config.toml", error))
    throw Error{not_found, "{} is no run: it has neither journal.jsonl nor config.toml", path.string()};
  return real;
}

}  // namespace

struct RunReader::State {
  explicit State(const std::filesystem::path& path)
      : directory(checked(path)), journal_tail(directory / "journal.jsonl"), telemetry_tail(directory / "telemetry.jsonl") {}

  template <class Take>
  void look_at_records(LineTail& tail, observe::JournalUpgrade& upgrade, Take take) {
    tail.look([&](std::string_view line) {
      try {
        if (auto record = observe::parse_record(line)) {
          upgrade.apply(*record);
          take(*record);
          ++records;
        }
      } catch (const Error& error) {  // a damaged line is counted and hides no other; a newer version ends the reading
        if (error.code() == failed_precondition) throw Error{failed_precondition, "{}: {}", directory.string(), error.what()};
        ++bad_lines;
      }
    });
  }

  void look_at_telemetry() {
    look_at_records(telemetry_tail, telemetry_upgrade, [&](const observe::Record& record) {
      if (record.type == "machine") machines.take(record);
      if (record.type == "node") nodes.take(record);
    });
    machines.settle(journal.window());
    nodes.settle(journal.window());
  }

  void look_at_steps() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory / "steps", error))
      if (entry.path().extension() == ".csv") step_tails.try_emplace(entry.path().stem().string(), entry.path());
    for (auto& [node, tail] : step_tails)
      tail.look([&, &name = node](std::string_view line) { nodes.table(name).take(line); },
                [&, &name = node] { nodes.forget_table(name); });
  }

  void write() {
    document.run.name = directory.filename().string();
    document.run.directory = directory.string();
    if (document.run.config.empty()) document.run.config = read_config_rows(directory / "config.toml");
    journal.write_to(document);
    if (!journal.has_ended()) document.run.state = is_running ? "running" : "died";
    machines.write_to(document);
    nodes.write_to(document, journal.lost());
    document.ops = profile.profile();
    learned.write_to(document);
    const StepFacts facts = step_facts(document);
    document.limit = limit_of(facts);
    document.predictions = predictions_of(facts);
    document.traffic = traffic_of(document);
    document.warnings = learned.warnings();
    if (bad_lines > 0)
      document.warnings.push_back(fmt::format("{} lines of journal and telemetry are no records and were passed over", bad_lines));
    if (document.result.interrupted_seconds > 0)
      document.warnings.push_back(
          fmt::format("the training was interrupted for {:.0f} s; elapsed times leave that out", document.result.interrupted_seconds));
  }

  void look() {
    const auto before = records;
    look_at_records(journal_tail, journal_upgrade, [&](const observe::Record& record) { journal.take(record); });
    const bool has_grown = before > 0 && records > before;  // then a process writes it
    look_at_telemetry();
    look_at_steps();
    profile.look(directory / "profile");
    learned.look(directory);
    if (!journal.has_ended()) is_running = has_grown || is_being_trained(directory);
    write();
  }

  std::filesystem::path directory;
  LineTail journal_tail;
  LineTail telemetry_tail;
  observe::JournalUpgrade journal_upgrade, telemetry_upgrade;
  std::map<std::string, LineTail> step_tails;
  JournalPart journal;
  MachinesPart machines;
  NodesPart nodes;
  ProfilePart profile;
  LearnedPart learned;
  RunDocument document;
  std::int64_t records = 0;
  std::int64_t bad_lines = 0;
  bool is_running = false;
};

RunReader::RunReader(const std::filesystem::path& run_directory) : state_(std::make_unique<State>(run_directory)) {}
RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;

void RunReader::look() { state_->look(); }
const RunDocument& RunReader::document() const { return state_->document; }

RunDocument read_run(const std::filesystem::path& run_directory) {
  RunReader reader(run_directory);
  reader.look();
  return reader.document();
}

}  // namespace trireme::report
