// SPDX-License-Identifier: Apache-2.0
// The trainings of a search for a switch point: baselines in segments, a copy at each point of the grid, and continuations of copies.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/experiment/child_training.h"

namespace trireme::experiment {

struct SearchRequest {
  Config job;
  std::string stem;      // of the job's file
  std::string from, to;  // strategies as short texts
  std::int64_t nodes = 1;
  int grid = 8;
  std::filesystem::path out;
  std::vector<std::string> train_arguments;  // for each `trireme train`
};

// What is there already is not trained again, so that a search which was cut short goes on where it was.
class SearchTrainings {
 public:
  using OnPiecePosition = std::function<void(const std::string& title, const JournalTail::Position& position)>;
  SearchTrainings(SearchRequest request, const std::atomic<int>& stop, OnPiecePosition on_position);

  struct Result {
    double accuracy = kUnknown;  // 0 if it diverged
    std::int64_t samples = 0;    // it was measured on
    double training_seconds = kUnknown;
    bool is_complete = false;
    bool diverged = false;
  };
  Result baseline(std::int64_t seed);          // the first strategy alone; leaves the copies
  Result switched(std::int64_t seed, int at);  // after the baseline of that seed
  double seconds_spent() const;                // from start to exit of all trainings that ended

 private:
  // One `trireme train`.
  struct Piece {
    std::vector<std::string> arguments;
    std::filesystem::path records;  // its output and what it used
    std::filesystem::path run;
    std::string title;
  };

  std::filesystem::path seed_folder(std::int64_t seed) const;
  std::filesystem::path fork(std::int64_t seed, int at) const;
  std::string job_file(std::int64_t seed, const std::string& strategy) const;
  std::vector<std::string> begin_or_resume(const std::filesystem::path& runs, const std::string& job) const;
  ChildOutcome train(const Piece& piece);
  void train_baseline(std::int64_t seed, int to);
  static Result result_of(const std::filesystem::path& run);

  SearchRequest request_;
  const std::atomic<int>& stop_;
  OnPiecePosition on_position_;
};

// A run with its newest checkpoint only, to be continued apart from the original. It is there as a whole or not at all.
void copy_run(const std::filesystem::path& run, const std::filesystem::path& copy);

// [strategy] of a job replaced by that of a short text; options that all strategies share are kept.
Config with_strategy(const Config& job, const std::string& strategy);

}  // namespace trireme::experiment
