// SPDX-License-Identifier: Apache-2.0
// What a run's journal says about its outcome.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "trireme/observe/journal_reader.h"

namespace trireme::experiment {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct EpochSummary {
  std::int64_t epoch = 0;
  double training_loss = kUnknown;
  double training_accuracy = kUnknown;
  double loss = kUnknown;  // on validation samples; on the test samples if there are none
  double accuracy = kUnknown;
  double seconds = kUnknown;  // since the first step began, everything included
};

struct RunSummary {
  bool is_complete = false;  // its last epoch was trained, or early stopping ended it
  double training_accuracy = kUnknown;
  double training_loss = kUnknown;
  double accuracy = kUnknown;  // of the final test; without one, of the last epoch's validation
  double loss = kUnknown;
  std::int64_t samples = 0;            // that these two were measured on
  double seconds = kUnknown;           // from the beginning of the first step to the end of the last epoch: validation, switches and all
  double training_seconds = kUnknown;  // of it: steps
  double switch_seconds = kUnknown;    // of it: switches of strategy, if there were any
  double samples_per_second = kUnknown;
  double staleness = kUnknown;  // mean over all pushes that report it
  std::vector<EpochSummary> epochs;
};

RunSummary summarize(const std::vector<observe::Record>& journal);

// How far a run is, from what its journal has got since the last look.
class JournalTail {
 public:
  explicit JournalTail(std::filesystem::path journal) : path_(std::move(journal)) {}

  struct Position {
    double fraction = 0;  // of all samples of the training
    std::int64_t epoch = 0;
    std::int64_t epochs = 0;
    double accuracy = kUnknown;  // over the steps of this epoch
  };
  const Position& look();  // what can't be read yet is passed over

 private:
  void take(const std::string& line);

  std::filesystem::path path_;
  std::streamoff offset_ = 0;
  std::int64_t samples_ = 0;  // of an epoch
  double right_ = 0;          // samples of this epoch with the right answer ...
  double counted_ = 0;        // ... of so many
  Position position_;
};

}  // namespace trireme::experiment
