// SPDX-License-Identifier: Apache-2.0
// Starting, following and ending `trireme train` in a process of its own.
#include "trireme/experiment/child_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <mutex>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/process.h"
#include "trireme/run/setup/own_process.h"

namespace trireme::experiment {
namespace {

constexpr std::chrono::milliseconds kSampleInterval{500};
constexpr int kFirstSamples = 20;               // of memory, in each interval, while it still changes; ...
constexpr int kSamplesBetween = 4;              // ... later once in so many, because looking takes time from the training
constexpr std::chrono::seconds kGrace{120};     // to write a checkpoint
constexpr std::chrono::seconds kLateGrace{20};  // the same, of a training that may hang

// What a child says, into a file; its last words are kept to explain a failure.
class ChildLog {
 public:
  explicit ChildLog(const std::filesystem::path& path) : file_(path, std::ios::trunc) {}

  void add(Stream stream, std::string_view line) {
    const std::lock_guard lock(mutex_);
    file_ << line << '\n' << std::flush;
    if (stream == Stream::err && line.find("error") != std::string_view::npos) error_ = line;
    if (!line.empty()) last_ = line;
  }
  std::string last_lines() const {
    const std::lock_guard lock(mutex_);
    return error_.empty() ? last_ : error_;
  }

 private:
  mutable std::mutex mutex_;
  std::ofstream file_;
  std::string error_;
  std::string last_;
};

ProcessOptions options_for(const ChildOrder& order, ChildLog& log) {
  ProcessOptions options;
  options.argv = {run::own_program().string(), "train"};
  options.argv.insert(options.argv.end(), order.arguments.begin(), order.arguments.end());
  // What is compared is time, too; scores by class would be made by each of many trainings.
  if (std::ranges::find(order.arguments, "--resume") == order.arguments.end())
    options.argv.insert(options.argv.end(), {"--set", "observe.evaluation_seconds=0"});
  options.on_line = [&log](Stream stream, std::string_view line) { log.add(stream, line); };
  return options;
}

[[noreturn]] void stop_child(Process& child, const std::string& how_to_go_on) {
  child.signal(SIGINT);
  if (!child.wait_for(kGrace)) child.terminate(std::chrono::seconds(5));
  throw Error{cancelled, "interrupted; to go on with the runs that are missing: {}", how_to_go_on};
}

// It is asked first, so that it can end its nodes.
ExitStatus end_child(Process& child) {
  child.signal(SIGINT);
  if (const auto status = child.wait_for(kLateGrace)) return *status;
  return child.terminate(std::chrono::seconds(5));
}

}  // namespace

ChildOutcome run_child_training(const ChildOrder& order, const std::atomic<int>& stop, const OnPosition& on_position) {
  make_directories(order.folder);
  std::filesystem::remove(order.folder / "failure.txt");
  ChildLog log(order.folder / "log.txt");
  const SteadyClock clock;
  ResourceMeter meter(clock);
  JournalTail tail(order.journal);
  Process child(options_for(order, log));
  std::optional<ExitStatus> status;
  const double start = clock.now().count();
  bool is_late = false;
  for (int interval = 0; !(status = child.wait_for(kSampleInterval)); ++interval) {
    if (stop != 0) stop_child(child, order.how_to_go_on);
    if (order.time_limit > 0 && clock.now().count() - start > order.time_limit) {
      status = end_child(child);
      is_late = true;
      break;
    }
    meter.sample_network();
    if (interval < kFirstSamples || interval % kSamplesBetween == 0) meter.sample_memory(child.pid());
    on_position(tail.look());
  }
  ChildOutcome outcome{.is_success = status->is_success() && !is_late, .failure = {}, .use = meter.finish()};
  write_file_atomically(order.folder / "resources.json", to_json(outcome.use));
  if (outcome.is_success) return outcome;
  outcome.failure =
      is_late ? fmt::format("it did not end within {} (--time-limit); its last words: {}", in_hours(order.time_limit), log.last_lines())
              : fmt::format("{}: {}", status->in_words(), log.last_lines());
  write_file_atomically(order.folder / "failure.txt", outcome.failure + "\n");
  return outcome;
}

std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder) {
  std::optional<FinishedRun> found;
  if (!std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path journal = entry.path() / "journal.jsonl";
    if (entry.is_symlink() || !std::filesystem::exists(journal)) continue;
    RunSummary summary = summarize(observe::read_journal(journal));
    if (summary.is_complete && (!found || found->directory < entry.path()))
      found = {.directory = entry.path(), .summary = std::move(summary), .use = {}};
  }
  const std::filesystem::path resources = folder / "resources.json";
  if (found && std::filesystem::exists(resources)) found->use = resource_use_from_json(read_file(resources));
  return found;
}

std::string in_hours(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  if (seconds > 0 && seconds < 0.9995) return fmt::format("{:.0f} ms", 1000 * seconds);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

ExperimentProgress::~ExperimentProgress() {
  if (has_open_line_) out_ << "\n" << std::flush;
}

void ExperimentProgress::skip(double seconds) {
  ++number_;
  if (!std::isfinite(seconds)) return;
  measured_seconds_ += seconds;
  ++measured_;
}

void ExperimentProgress::begin(const std::string& title) {
  ++number_;
  title_ = title;
  start_ = clock_.now();
  if (!terminal_) out_ << line("begins") << "\n" << std::flush;
}

std::string ExperimentProgress::line(const std::string& words) const {
  return fmt::format("{} of {}: {}: {}", number_, runs_, title_, words);
}

// This run as fast as so far; the others as long as the mean of those known.
double ExperimentProgress::seconds_left(double fraction) const {
  const double elapsed = (clock_.now() - start_).count();
  const double whole = fraction > 0 ? elapsed / fraction : kUnknown;
  const double mean = measured_ > 0 ? measured_seconds_ / measured_ : whole;
  return std::max(0.0, whole - elapsed) + mean * (runs_ - number_);
}

void ExperimentProgress::on_position(const JournalTail::Position& position) {
  if (!terminal_) return;
  std::string words = "starting";
  if (position.epoch > 0) {
    words = fmt::format("epoch {} of {}", position.epoch, position.epochs);
    if (std::isfinite(position.accuracy)) words += fmt::format(", accuracy {:.2f}", position.accuracy);
    words += fmt::format(", all done in {}", in_hours(seconds_left(position.fraction)));
  }
  out_ << "\r\033[K" << line(words) << std::flush;
  has_open_line_ = true;
}

void ExperimentProgress::end(const std::string& words, double seconds) {
  measured_seconds_ += seconds;
  ++measured_;
  const int left = runs_ - number_;
  out_ << (terminal_ ? "\r\033[K" : "") << line(words);
  if (left > 0) out_ << fmt::format(" ({} more in about {})", left, in_hours(measured_seconds_ / measured_ * left));
  out_ << "\n" << std::flush;
  has_open_line_ = false;
}

}  // namespace trireme::experiment
