// SPDX-License-Identifier: Apache-2.0
// A run in a few numbers: what a list of runs shows of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/json.h"
#include "trireme/report/document/run_document.h"

namespace trireme::report {

// What is measured after an epoch. `loss` and `accuracy` are those of held-out samples.
struct EpochScore {
  double epoch = kUnknown, time = kUnknown;
  double training_loss = kUnknown, training_accuracy = kUnknown;
  double loss = kUnknown, accuracy = kUnknown;
};

// What the records of a journal say.
struct RunSummary {
  std::string job, model, data, host;
  std::string strategy;  // the plan, if there is one
  double started = kUnknown, ended = kUnknown;
  double workers = kUnknown, epochs = kUnknown, parameters = kUnknown, batch_size = kUnknown;
  double epochs_done = 0, step = 0;
  double seconds = 0;  // of all epochs, without validation and checkpoints
  double samples_per_second = kUnknown;
  double last_loss = kUnknown;  // of the last step
  double test_loss = kUnknown, test_accuracy = kUnknown;
  std::string measured_on;  // after epochs: validation, test; empty: nothing
  std::string reason;       // of the end; empty: the journal has none
  EpochScore best_loss, best_accuracy;
  std::vector<EpochScore> scores;  // every second, fourth ... of very many
};

enum class Outcome { running, finished, stopped, failed, killed };
std::string_view name_of(Outcome outcome);

struct RunEntry {
  std::string name, directory;
  std::string note;
  Outcome outcome = Outcome::killed;
  RunSummary summary;

  // Of the final test, else as last measured.
  double loss() const;
  double accuracy() const;
  std::string measured_on() const;
  // The best after an epoch; of a model without an accuracy by its loss.
  const EpochScore& best() const;
};

// A journal without an end is that of a killed run, unless a process has it.
Outcome outcome_of(const RunSummary& summary, bool is_running);

enum class Curves { without, with };
Json json_of(const RunEntry& entry, Curves curves);

}  // namespace trireme::report
