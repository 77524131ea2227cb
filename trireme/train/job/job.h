// SPDX-License-Identifier: Apache-2.0
// What to train, as a job file says it: [model], [data], [train], [strategy], [observe] and their sub-tables.
#pragma once

#include <any>
#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/base/options.h"
#include "trireme/data/sets/data_options.h"
#include "trireme/graph/graph.h"
#include "trireme/optim/schedule.h"

namespace trireme::train {

struct TrainOptions {
  std::int64_t epochs = 5;
  std::int64_t batch_size = 128;
  std::int64_t seed = 1;
  std::int64_t threads = 0;
  double checkpoint_seconds = 60;
  std::string on_non_finite = "stop";
  std::int64_t max_skipped_steps = 10;
  bool keep_best = true;
  std::vector<std::string> class_weights;  // job/class_weights.h
};
void describe(TrainOptions& o, OptionVisitor& visit);

struct EarlyStoppingOptions {
  std::int64_t patience = 0;
  std::string watch = "loss";
  double min_change = 0;
};
void describe(EarlyStoppingOptions& o, OptionVisitor& visit);

// What all strategies of several workers share.
struct TeamOptions {
  std::string shares = "automatic";
  std::string straggler = "shares";
  bool sync_batch_norm = false;
  double timeout_seconds = 60;
  double stuck_seconds = 30;
  bool encrypt = true;
};
void describe(TeamOptions& o, OptionVisitor& visit);

// [strategy]
struct StrategyRequest {
  std::string name = "allreduce";  // of several workers; one alone trains with `local`
  std::any options;                // as the entry describes them
  TeamOptions team;
};
StrategyRequest strategy_request(const Config& table);
// Throws if the job's statistics can't be kept with this strategy.
void check_statistics(const StrategyRequest& request, std::string_view strategy);
std::string duties_text(const StrategyRequest& request, int nodes);  // "3 workers", "2 servers and 6 workers"
// The options of both kinds, in the order of the file.
void visit_strategy(StrategyRequest& request, OptionVisitor& visit);

// [observe]: what is watched beside the training; nothing of it changes what is trained.
struct ObserveOptions {
  std::string profile;
  double sample_seconds = 1;
  double baseline_seconds = 0;
  std::int64_t tensorboard_steps = 0;
  double evaluation_seconds = 60;
  bool samples = true;
};
void describe(ObserveOptions& o, OptionVisitor& visit);

struct Job {
  graph::Graph graph;
  data::DataRequest data;
  TrainOptions train;
  EarlyStoppingOptions early_stopping;
  Config optimizer;  // see optim::Optimizer::from_config
  optim::ScheduleOptions schedule;
  StrategyRequest strategy;
  ObserveOptions observe;
};

// Throws invalid_argument naming the place in the file and what would be right.
Job job_from_config(const Config& config);

// The job with all that its model leaves to these data (graph/model_fit.h); throws where they disagree.
Config fit_to_data(const Config& config, const data::SampleFormat& format);
// What job_from_config would find wrong, as far as it shows without the data.
void check_job(const Config& config);

// A value of a job and where it comes from: "job.toml:12", "--set ...", or "default".
struct Setting {
  std::string table;  // "train.optimizer"
  std::string key;
  std::string value;  // as TOML
  std::string origin;
};

// Every value that decides what a job does, defaults included, table by table.
std::vector<Setting> settings_of(const Config& config);

// A hash over every setting but those that may differ from machine to machine (where files lie, and threads), change nothing that is
// trained ([observe]) or may follow from the data (sizes of the model).
std::string job_hash(const Config& config);

// The settings as a job file, each with its origin as a comment.
std::string job_file_of(const std::vector<Setting>& settings);

}  // namespace trireme::train
