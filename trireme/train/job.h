// SPDX-License-Identifier: Apache-2.0
// What to train, as a job file says it: [model], [data], [train], [train.optimizer], [train.schedule].
#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config.h"
#include "trireme/base/options.h"
#include "trireme/graph/graph.h"
#include "trireme/optim/schedule.h"

namespace trireme::train {

struct TrainOptions {
  std::int64_t epochs = 5;
  std::int64_t batch_size = 128;
  std::int64_t seed = 1;
  std::int64_t threads = 0;
};
void describe(TrainOptions& o, OptionVisitor& visit);

struct DataOptions {
  std::string name = "synthetic_digits";
  std::int64_t samples = 10000;
  std::int64_t test_samples = 2000;
  std::int64_t seed = 1;
};
void describe(DataOptions& o, OptionVisitor& visit);

struct Job {
  graph::Graph graph;
  DataOptions data;
  TrainOptions train;
  Config optimizer;  // see optim::Optimizer::from_config
  optim::ScheduleOptions schedule;
};

// Throws invalid_argument naming the place in the file and what would be right.
Job job_from_config(const Config& config);

}  // namespace trireme::train
