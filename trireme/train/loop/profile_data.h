// SPDX-License-Identifier: Apache-2.0
// What a node keeps of the steps that were profiled: times of ops, and spans. docs/tracing.md has the file that is made of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "trireme/engine/op_times.h"
#include "trireme/observe/spans.h"
#include "trireme/train/team/strategy.h"

namespace trireme::train {

// Of numbers that come one after another, as many as the whole has.
class Spread {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
  }
  double mean(std::int64_t count) const { return count > 0 ? sum_ / static_cast<double>(count) : 0; }
  double deviation(std::int64_t count) const;

 private:
  double sum_ = 0, squares_ = 0;
};

struct OpStatistics {
  std::vector<std::string> fused;
  std::int64_t calls = 0;
  Spread wall;                // seconds of each step
  double thread_seconds = 0;  // in all
  double flops = 0, bytes = 0;
  bool is_beside = false;  // runs while others do: no part of a step's time
};

// Rows by name, category and pass. All rows that are not beside the others make up the time of the steps.
class OpProfile {
 public:
  struct Step {
    std::int64_t samples = 0;
    double seconds = 0;     // all of it
    double input_wait = 0;  // for the batch
    StepTimes times;
  };
  using Key = std::tuple<std::string, std::string, std::string>;

  // `ops` may be null: nothing was computed.
  void add(const Step& step, const engine::OpTable* table, const engine::OpTimes* ops);

  std::int64_t steps() const { return steps_; }
  double step_seconds() const { return seconds_.mean(steps_); }
  const std::map<Key, OpStatistics>& rows() const { return rows_; }
  const std::map<std::string, Spread>& categories() const { return categories_; }

 private:
  double add_ops(const Step& step, const engine::OpTable& table, const engine::OpTimes& ops);
  OpStatistics& row(const std::string& name, const std::string& category, const std::string& pass, double seconds);

  std::int64_t steps_ = 0;
  Spread seconds_;
  std::map<Key, OpStatistics> rows_;
  std::map<std::string, Spread> categories_;
  std::map<std::string, double> of_step_;  // by category, of the step that is being added
};

struct ProfileData {
  OpProfile ops;
  observe::Spans::Taken spans;
  std::int64_t first_step = 0, last_step = 0;
};

struct ProfileOrigin {
  std::string node, host;
  int rank = 0;
  double own_time = 0;      // to be added to SteadyClock to get this machine's time of day
  double clock_offset = 0;  // to be added to that to get the coordinator's
  double clock_uncertainty = 0;
};

// JSON lines: where they are from, spans, ops, categories.
std::string profile_lines(const ProfileData& data, const ProfileOrigin& origin);
// The difference between this machine's time of day and SteadyClock now.
double own_time_offset();

}  // namespace trireme::train
