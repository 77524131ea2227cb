// SPDX-License-Identifier: Apache-2.0
// A job file, read and checked.
#include "trireme/train/job.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/graph/model_file.h"
#include "trireme/optim/optimizer.h"
#include "trireme/train/strategy_entry.h"

namespace trireme::train {
namespace {

void check_tables(const Config& config) {
  const std::vector<std::string_view> known{"model", "data", "train", "strategy"};
  for (const auto& [key, value] : config.table()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string guess = nearest(key, known);
    throw Error{invalid_argument, "{}: a job has no table [{}]; {}", value.origin(), key,
                guess.empty() ? "it has [model], [data], [train] and [strategy]" : fmt::format("did you mean [{}]?", guess)};
  }
}

Config table_or_empty(const Config& config, std::string_view key) {
  const Config* table = config.find(key);
  return table == nullptr ? Config() : *table;
}

// Nothing would ever stop on it.
void check_early_stopping(const Job& job, const Config& train) {
  if (job.early_stopping.patience > 0 && job.data.data.validation == 0)
    throw Error{invalid_argument,
                "{}: [train.early_stopping] watches the validation samples, and there are none; set data.validation, e.g. 0.1",
                train.at("early_stopping").origin()};
}

}  // namespace

void describe(TrainOptions& o, OptionVisitor& visit) {
  visit("epochs", o.epochs, "passes over the data", 1, 1 << 20);
  visit("batch_size", o.batch_size, "samples per step, over all workers", 1, 1 << 20);
  visit("seed", o.seed, "of initial weights, order of samples, augmentation and dropout", 0);
  visit("threads", o.threads, "cores to use; 0 means all of them", 0, 1 << 12);
  visit("checkpoint_seconds", o.checkpoint_seconds, "between two checkpoints; 0: only at the end and when interrupted", 0, 1e9);
}

void describe(EarlyStoppingOptions& o, OptionVisitor& visit) {
  visit("patience", o.patience, "epochs without a better validation after which training ends; 0: never", 0, 1 << 20);
  visit("watch", o.watch, "what must get better", {"loss", "accuracy"});
  visit("min_change", o.min_change, "a smaller change is none", 0.0);
}

void describe(TeamOptions& o, OptionVisitor& visit) {
  visit("shares", o.shares,
        "of each batch: equal, by speed (measured anew while training), or automatic: equal until a worker holds the others up",
        {"automatic", "equal", "speed"});
  visit("sync_batch_norm", o.sync_batch_norm, "batch-norm statistics over the batches of all workers, not of each one");
  visit("timeout_seconds", o.timeout_seconds, "that a worker waits for the others in one exchange", 0.1, 86400.0);
}

void visit_strategy(StrategyRequest& request, OptionVisitor& visit) {
  find_strategy(request.name).options.visit(request.options, visit);
  describe(request.team, visit);
}

StrategyRequest strategy_request(const Config& table) {
  StrategyRequest request;
  if (const Config* name = table.find("name")) request.name = name->text();
  request.options = find_strategy(request.name).options.defaults();
  OptionReader reader(table, "[strategy]", {"name"});
  visit_strategy(request, reader);
  reader.finish();
  if (const auto check = find_strategy(request.name).check) check(request.options);
  return request;
}

std::string duties_text(const StrategyRequest& request, int nodes) {
  const StrategyEntry& entry = find_strategy(request.name);
  if (entry.duties != nullptr && nodes > 1) return entry.duties(request.options, nodes);
  return fmt::format("{} {}", nodes, nodes == 1 ? "worker" : "workers");
}

Job job_from_config(const Config& config) {
  check_tables(config);
  const Config train = table_or_empty(config, "train");
  Job job{.graph = graph::graph_from_config(config.at("model")),
          .data = data::data_request(table_or_empty(config, "data")),
          .train = read_options<TrainOptions>(train, "[train]", {"optimizer", "schedule", "early_stopping"}),
          .early_stopping = read_options<EarlyStoppingOptions>(table_or_empty(train, "early_stopping"), "[train.early_stopping]"),
          .optimizer = table_or_empty(train, "optimizer"),
          .schedule = read_options<optim::ScheduleOptions>(table_or_empty(train, "schedule"), "[train.schedule]"),
          .strategy = strategy_request(table_or_empty(config, "strategy"))};
  optim::Optimizer::from_config(job.optimizer, job.graph.parameters());  // a mistake there is told now, not after the data are read
  check_early_stopping(job, train);
  return job;
}

}  // namespace trireme::train
