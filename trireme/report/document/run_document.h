// SPDX-License-Identifier: Apache-2.0
// Everything that is known of a run, as plain numbers: what reports, the dashboard and `--json` show.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/report/document/strategy_facts.h"
#include "trireme/report/scores/evaluation.h"

namespace trireme::report {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Numbers by name over one of them, the first (time, or an epoch). All have the same length.
struct Series {
  std::vector<std::pair<std::string, std::vector<double>>> columns;

  const std::vector<double>& at(std::string_view name) const;  // none if there is no such column
  double value(std::string_view name, double key) const;       // in the row whose first column is `key`; unknown if there is none
  std::size_t size() const { return columns.empty() ? 0 : columns.front().second.size(); }
};

struct ConfigRow {
  std::string key;  // "train.batch_size"
  std::string value;
  std::string origin;  // "job.toml:3", "default"
};

struct RunFacts {
  std::string name, directory, job, model, data;
  std::string strategy;  // now, or at the end
  std::string plan;
  std::string trireme, host;
  double optimizer_slots = kUnknown;  // arrays of the parameters' size that it keeps; runs of older versions don't report it
  double parameters = kUnknown, batch_size = kUnknown, epochs = kUnknown, samples = kUnknown, seed = kUnknown;
  double workers = kUnknown, threads = kUnknown;
  double started = kUnknown, ended = kUnknown;  // seconds since 1970
  double first_step = kUnknown;                 // its beginning
  std::string state;                            // running, completed, stopped early, interrupted, failed, died
  std::vector<ConfigRow> config;

  // Empty if it is not there.
  std::string setting(std::string_view key) const;
};

struct Progress {
  double step = 0, epoch = 0, epochs = kUnknown, samples_seen = 0, samples_total = kUnknown;
  double fraction = kUnknown, samples_per_second = kUnknown, seconds_left = kUnknown;
  double skipped_steps = 0;  // whose loss or gradients were not finite
};

struct Result {
  double training_accuracy = kUnknown, training_loss = kUnknown;
  double accuracy = kUnknown, loss = kUnknown;
  std::string measured_on;  // test, validation; empty: on nothing
  double measured_samples = kUnknown;
  double penalty = kUnknown;           // L2, at the last epoch's end
  double seconds = kUnknown;           // first step's beginning to the last epoch's end, without the time in which it was interrupted
  double training_seconds = kUnknown;  // of it steps
  double switch_seconds = kUnknown;    // of it switches, if there were any
  double interrupted_seconds = 0;      // between a session's last record and the next one's first
  double updates_per_epoch = kUnknown;
  double highest_rate = kUnknown;     // of learning
  double rate_per_sample = kUnknown;  // sum of all updates' learning rates / samples they were made of: comparable between strategies
};

struct Extent {
  double min = kUnknown, mean = kUnknown, max = kUnknown;
};
using Summary = std::vector<std::pair<std::string, Extent>>;
const Extent* find(const Summary& summary, std::string_view name);
double mean_of(const Summary& summary, std::string_view name);

struct AnatomyPart {
  std::string name;
  double seconds = kUnknown;  // mean of a step
  double share = kUnknown;    // of the step
  double spread = kUnknown;   // standard deviation over steps
};

struct Anatomy {
  double steps = 0;
  double step_seconds = kUnknown;
  std::vector<AnatomyPart> parts;   // make up the step
  std::vector<AnatomyPart> beside;  // at the same time as these, on other threads
  Series series;

  double seconds(std::string_view part) const;  // of parts and beside; unknown if it is not there
  double share(std::string_view part) const;
};

struct NodeFacts {
  std::string node, host, duty, state;
  double rank = kUnknown, share = kUnknown, steps = 0, samples = 0;
  double samples_per_second = kUnknown, memory_bytes = kUnknown, memory_max_bytes = kUnknown, cores_used = kUnknown;
  double bytes_sent = kUnknown, bytes_received = kUnknown;
  Series series;
  Anatomy anatomy;

  bool computes() const { return duty.find("worker") != std::string::npos || duty.empty(); }
  bool serves() const { return duty.find("server") != std::string::npos; }
};

struct Baseline {
  double cpu = kUnknown, memory = kUnknown, network_in = kUnknown, network_out = kUnknown;
};

struct MachineFacts {
  std::string host;
  double cores = kUnknown, memory_total_bytes = kUnknown;
  Series series;
  Summary summary;  // over the run's own window: first step's beginning to the last step's end
  std::optional<Baseline> baseline;
};

struct Staleness {
  std::vector<double> histogram;  // pushes by age
  double mean = kUnknown, max = kUnknown;
};

struct ServerFacts {
  double server = kUnknown, pushes = 0, dropped = 0, busy_share = kUnknown, held_seconds = 0, bytes_in = 0, bytes_out = 0;
};

struct OpCategory {
  std::string category;
  double seconds = kUnknown, share = kUnknown, spread = kUnknown;
};
struct OpFacts {
  std::string name, category, pass;
  double calls = kUnknown, seconds = kUnknown, spread = kUnknown, share = kUnknown;
  double flops_per_second = kUnknown, bytes = kUnknown, bytes_per_second = kUnknown;
};
struct OpProfile {
  double steps = 0;
  std::vector<OpCategory> categories;
  std::vector<OpFacts> ops;
};

struct Event {
  double time = kUnknown;
  std::string kind, title, detail;
  double step = kUnknown;
};

struct Limit {
  std::string kind = "unknown";
  std::string sentence;
};

struct Prediction {
  std::string change;
  double step_seconds = kUnknown;
  double difference = kUnknown;  // -0.21: 21 % less time
  std::string sentence;
};

struct Traffic {
  double measured_bytes_per_step = kUnknown;
  double model_bytes_per_step = kUnknown;
  double ratio = kUnknown;
  std::string model;
};

// Steps done with one strategy.
struct Stretch {
  std::string strategy;
  double workers = kUnknown;
  double steps = 0;  // repeated ones counted again
  double first_step = kUnknown;
};

struct RunDocument {
  RunFacts run;
  Progress progress;
  Result result;
  Series steps;   // time, step, loss, accuracy, samples_per_second, learning_rate
  Series epochs;  // epoch, time, training_loss, ...
  std::vector<NodeFacts> nodes;
  std::vector<MachineFacts> machines;
  MachineFacts cluster;  // CPU weighted by cores, the rest summed
  Anatomy anatomy;
  std::optional<Staleness> staleness;
  std::vector<ServerFacts> servers;
  double server_wait_share = kUnknown, servers_needed = kUnknown;  // as the first server reported last
  double server_workers = kUnknown;                                // workers that push to the servers
  std::optional<OpProfile> ops;
  std::vector<Event> events;
  std::vector<Stretch> stretches;
  std::vector<StrategyFacts> strategies;  // of all that were planned or used
  Limit limit;
  std::vector<Prediction> predictions;
  std::optional<Traffic> traffic;
  std::optional<Evaluation> evaluation;      // of the trained model, by class
  std::string mistakes_json, examples_json;  // for the page; empty: the run keeps none
  std::vector<std::string> warnings;
  bool is_above_baseline = false;  // the idle machine's use was subtracted

  // Unknown ones of a strategy that was not recorded.
  StrategyFacts facts_of(std::string_view strategy) const;
};

std::string to_json(const RunDocument& document);

// What the machines used before the training began is taken off their use; machines without a baseline are named in the warnings.
void subtract_baseline(RunDocument& document);

}  // namespace trireme::report
