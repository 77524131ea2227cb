// SPDX-License-Identifier: Apache-2.0
// A job file, read and checked.
#include "trireme/train/job.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/graph/model_file.h"
#include "trireme/optim/optimizer.h"

namespace trireme::train {
namespace {

void check_tables(const Config& config) {
  const std::vector<std::string_view> known{"model", "data", "train"};
  for (const auto& [key, value] : config.table()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string guess = nearest(key, known);
    throw Error{invalid_argument, "{}: a job has no table [{}]; {}", value.origin(), key,
                guess.empty() ? "it has [model], [data] and [train]" : fmt::format("did you mean [{}]?", guess)};
  }
}

Config table_or_empty(const Config& config, std::string_view key) {
  const Config* table = config.find(key);
  return table == nullptr ? Config() : *table;
}

}  // namespace

void describe(TrainOptions& o, OptionVisitor& visit) {
  visit("epochs", o.epochs, "passes over the data", 1, 1 << 20);
  visit("batch_size", o.batch_size, "samples per step, over all workers", 1, 1 << 20);
  visit("seed", o.seed, "of initial weights, order of samples and dropout", 0);
  visit("threads", o.threads, "cores to use; 0 means all of them", 0, 1 << 12);
}

void describe(DataOptions& o, OptionVisitor& visit) {
  visit("name", o.name, "the data set", {"synthetic_digits"});
  visit("samples", o.samples, "for training", 1, 1 << 30);
  visit("test_samples", o.test_samples, "held out for the evaluation after each epoch; 0 means none", 0, 1 << 30);
  visit("seed", o.seed, "of the synthetic samples", 0);
}

Job job_from_config(const Config& config) {
  check_tables(config);
  const Config train = table_or_empty(config, "train");
  Job job{.graph = graph::graph_from_config(config.at("model")),
          .data = read_options<DataOptions>(table_or_empty(config, "data"), "[data]"),
          .train = read_options<TrainOptions>(train, "[train]", {"optimizer", "schedule"}),
          .optimizer = table_or_empty(train, "optimizer"),
          .schedule = read_options<optim::ScheduleOptions>(table_or_empty(train, "schedule"), "[train.schedule]")};
  optim::Optimizer::from_config(job.optimizer, job.graph.parameters());  // a mistake there is told now, not after the data are read
  return job;
}

}  // namespace trireme::train
