// SPDX-License-Identifier: Apache-2.0
// What to train, as a job file says it: [model], [data], [train] and their sub-tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/base/options.h"
#include "trireme/data/data_options.h"
#include "trireme/graph/graph.h"
#include "trireme/optim/schedule.h"

namespace trireme::train {

struct TrainOptions {
  std::int64_t epochs = 5;
  std::int64_t batch_size = 128;
  std::int64_t seed = 1;
  std::int64_t threads = 0;
  double checkpoint_seconds = 60;
};
void describe(TrainOptions& o, OptionVisitor& visit);

struct EarlyStoppingOptions {
  std::int64_t patience = 0;
  std::string watch = "loss";
  double min_change = 0;
};
void describe(EarlyStoppingOptions& o, OptionVisitor& visit);

struct Job {
  graph::Graph graph;
  data::DataRequest data;
  TrainOptions train;
  EarlyStoppingOptions early_stopping;
  Config optimizer;  // see optim::Optimizer::from_config
  optim::ScheduleOptions schedule;
};

// Throws invalid_argument naming the place in the file and what would be right.
Job job_from_config(const Config& config);

// A value of a job and where it comes from: "job.toml:12", "--set ...", or "default".
struct Setting {
  std::string table;  // "train.optimizer"
  std::string key;
  std::string value;  // as TOML
  std::string origin;
};

// Every value that decides what a job does, defaults included, table by table.
std::vector<Setting> settings_of(const Config& config);

// The settings as a job file, each with its origin as a comment.
std::string job_file_of(const std::vector<Setting>& settings);

}  // namespace trireme::train
