// SPDX-License-Identifier: Apache-2.0
// A training as a child process of this program: followed, metered, and ended in good order.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/experiment/resource_meter.h"
#include "trireme/experiment/run_summary.h"

namespace trireme::experiment {

struct ChildOrder {
  std::vector<std::string> arguments;  // after `trireme train`
  std::filesystem::path folder;        // gets log.txt, resources.json and, if it fails, failure.txt
  std::filesystem::path journal;       // of the run, to follow it
  std::string how_to_go_on;            // after an interruption: a command
  double time_limit = 0;               // seconds after which it is ended and has failed; 0: none
};

struct ChildOutcome {
  bool is_success = false;  // it exited with code 0
  std::string failure;      // in words, with the last line that it said
  ResourceUse use;
};

using OnPosition = std::function<void(const JournalTail::Position&)>;

// Until its end. If `stop` is set meanwhile, the training is asked to end as after Ctrl-C, and Error cancelled is thrown when it has.
ChildOutcome run_child_training(const ChildOrder& order, const std::atomic<int>& stop, const OnPosition& on_position);

// The trainings of an experiment on the console: one line that renews itself on a terminal, a line a run elsewhere.
class ExperimentProgress {
 public:
  ExperimentProgress(std::ostream& out, bool terminal, int runs) : out_(out), terminal_(terminal), runs_(runs) {}
  ~ExperimentProgress();
  ExperimentProgress(const ExperimentProgress&) = delete;
  ExperimentProgress& operator=(const ExperimentProgress&) = delete;

  void skip(double seconds);             // a run that is there already
  void begin(const std::string& title);  // "SS 25%, seed 1"
  void on_position(const JournalTail::Position& position);
  void end(const std::string& words, double seconds);

 private:
  std::string line(const std::string& words) const;
  double seconds_left(double fraction) const;

  std::ostream& out_;
  bool terminal_;
  int runs_;
  int number_ = 0;
  bool has_open_line_ = false;
  double measured_seconds_ = 0;  // of runs that are over ...
  int measured_ = 0;             // ... so many
  std::string title_;
  SteadyClock clock_;
  Seconds start_{0};
};

std::string in_hours(double seconds);  // "1:59:30", below a minute "12.3 s", below a second "45 ms"

// The completed run among those in `folder` (of one or more attempts); none if there is none.
struct FinishedRun {
  std::filesystem::path directory;
  RunSummary summary;
  std::optional<ResourceUse> use;
};
std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder);

}  // namespace trireme::experiment
