// SPDX-License-Identifier: Apache-2.0
// A job file, read and checked.
#include "trireme/train/job/job.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/graph/model_file.h"
#include "trireme/graph/model_fit.h"
#include "trireme/optim/optimizer.h"
#include "trireme/train/job/class_weights.h"
#include "trireme/train/job/plan.h"
#include "trireme/train/job/policies.h"
#include "trireme/train/job/profile_window.h"
#include "trireme/train/job/strategy_entry.h"

namespace trireme::train {
namespace {

void check_tables(const Config& config) {
  const std::vector<std::string_view> known{"model", "data", "train", "strategy", "observe"};
  for (const auto& [key, value] : config.table()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string guess = nearest(key, known);
    throw Error{invalid_argument, "{}: a job has no table [{}]; {}", value.origin(), key,
                guess.empty() ? "it has [model], [data], [train], [strategy] and [observe]" : fmt::format("did you mean [{}]?", guess)};
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

// A point of the training is a number or a word.
Config with_points_as_text(Config table) {
  const Config* const at = table.find("at");
  if (at != nullptr && !at->is_text()) table.set("at", toml_quoted(at->to_toml()), at->origin());
  return table;
}

void check_statistics(const StrategyRequest& request) {
  check_statistics(request, request.name);
  if (const auto* const options = std::any_cast<SwitchOptions>(&request.options))
    for (const StrategyPart& part : parts_of(*options)) check_statistics(request, part.name);
}

bool has_class_option(data::DataRequest request) {
  OptionLister lister;
  request.reader->options.visit(request.reader_options, lister);
  return std::ranges::find(lister.rows, "classes", &OptionRow::name) != lister.rows.end();
}

Job job_with(graph::Graph graph, const Config& config) {
  const Config train = with_class_weights_as_text(table_or_empty(config, "train"));
  Job job{.graph = std::move(graph),
          .data = data::data_request(table_or_empty(config, "data")),
          .train = read_options<TrainOptions>(train, "[train]", {"optimizer", "schedule", "early_stopping"}),
          .early_stopping = read_options<EarlyStoppingOptions>(table_or_empty(train, "early_stopping"), "[train.early_stopping]"),
          .optimizer = table_or_empty(train, "optimizer"),
          .schedule = read_options<optim::ScheduleOptions>(table_or_empty(train, "schedule"), "[train.schedule]"),
          .strategy = strategy_request(table_or_empty(config, "strategy")),
          .observe = read_options<ObserveOptions>(table_or_empty(config, "observe"), "[observe]")};
  parse_profile(job.observe.profile);
  check_early_stopping(job, train);
  check_class_weights(job.train, train);
  return job;
}

}  // namespace

void check_statistics(const StrategyRequest& request, std::string_view strategy) {
  if (!request.team.sync_batch_norm || find_strategy(strategy).in_step) return;
  throw Error{invalid_argument,
              "[strategy]: sync_batch_norm needs workers in step, which those of {} are not; leave it out, or take allreduce", strategy};
}

void describe(TrainOptions& o, OptionVisitor& visit) {
  visit("epochs", o.epochs, "passes over the data", 1, 1 << 20);
  visit("batch_size", o.batch_size, "samples per step, over all workers", 1, 1 << 20);
  visit("seed", o.seed, "of initial weights, order of samples, augmentation and dropout", 0);
  visit("threads", o.threads, "cores to use; 0 means all of them", 0, 1 << 12);
  visit("checkpoint_seconds", o.checkpoint_seconds, "between two checkpoints; 0: only at the end and when interrupted", 0, 1e9);
  visit("on_non_finite", o.on_non_finite,
        "a step whose loss or gradients are not finite (NaN, infinity) ends the training (stop), or changes nothing (skip)",
        {"stop", "skip"});
  visit("max_skipped_steps", o.max_skipped_steps, "skip: in a row; one more ends the training as stop does", 0, 1 << 20);
  visit("keep_best", o.keep_best,
        "keep the weights of the epoch with the best validation (without one, the best test), for eval and predict; "
        "early_stopping.watch says what counts");
  visit("class_weights", o.class_weights,
        "of the training loss, for classes of different size: \"balanced\" (each counts the same), or one number per class");
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
  visit("straggler", o.straggler,
        "a worker that holds the others up gets a smaller share, is left out for a while (drop), or no worker waits for it (async: "
        "ps:async while it lasts)",
        {"shares", "drop", "async"});
  visit("sync_batch_norm", o.sync_batch_norm, "batch-norm statistics over the batches of all workers, not of each one");
  visit("timeout_seconds", o.timeout_seconds, "that a worker waits for the others in one exchange", 0.1, 86400.0);
  visit("stuck_seconds", o.stuck_seconds,
        "a worker that reads one batch for so long while others wait is left out until it moves (computing: twice as long); never less "
        "than ten times the longest seen so far",
        0.1, 86400.0);
  visit("encrypt", o.encrypt, "what workers of different machines exchange is encrypted; false: only sealed, so that others can read it");
}

void describe(ObserveOptions& o, OptionVisitor& visit) {
  visit("profile", o.profile, "steps whose every op is timed: \"steps 100-119\" or \"epochs 2-3\"; empty: none");
  visit("sample_seconds", o.sample_seconds, "between two looks at each machine, its processes and steps", 0.1, 3600.0);
  visit("baseline_seconds", o.baseline_seconds, "measured on each machine before the training begins, to be subtracted in reports", 0.0,
        600.0);
  visit("tensorboard_steps", o.tensorboard_steps,
        "every n-th step goes into TensorBoard's files; 0: as many as make about 1000 points of the whole training", 0, 1 << 30);
  visit("evaluation_seconds", o.evaluation_seconds,
        "at most, for scores of every class at the end of the training (evaluation.json); 0: none", 0.0, 86400.0);
  visit("samples", o.samples, "keep some samples in the run for its page: the first of the training, and the most confident mistakes");
}

void visit_strategy(StrategyRequest& request, OptionVisitor& visit) {
  find_strategy(request.name).options.visit(request.options, visit);
  describe(request.team, visit);
}

StrategyRequest strategy_request(const Config& table) {
  StrategyRequest request;
  if (const Config* name = table.find("name")) request.name = name->text();
  request.options = find_strategy(request.name).options.defaults();
  const Config read = with_points_as_text(table);
  OptionReader reader(read, "[strategy]", {"name"});
  visit_strategy(request, reader);
  reader.finish();
  if (const auto check = find_strategy(request.name).check) check(request.options);
  check_statistics(request);
  check_policies(request);
  return request;
}

std::string duties_text(const StrategyRequest& request, int nodes) {
  const StrategyEntry& entry = find_strategy(request.name);
  if (entry.duties != nullptr && nodes > 1) return entry.duties(request.options, nodes);
  return fmt::format("{} {}", nodes, nodes == 1 ? "worker" : "workers");
}

Config fit_to_data(const Config& config, const data::SampleFormat& format) {
  const data::DataRequest request = data::data_request(table_or_empty(config, "data"));
  Config fitted = config;
  fitted.put("model", graph::fit_model(config.at("model"), {.shape = format.shape,
                                                            .classes = format.classes,
                                                            .targets = format.targets,
                                                            .title = request.title(),
                                                            .class_option = has_class_option(request) ? "data.classes" : ""}));
  return fitted;
}

void check_job(const Config& config) {
  const Config& model = config.at("model");
  if (graph::is_complete(model)) {
    job_from_config(config);
    return;
  }
  check_tables(config);
  graph::check_layers(model);
  const Job job = job_with(graph::Graph(), config);
  optim::Optimizer::from_config(job.optimizer, job.graph.parameters());
}

Job job_from_config(const Config& config) {
  check_tables(config);
  Job job = job_with(graph::graph_from_config(config.at("model")), config);
  check_class_weights(job, table_or_empty(config, "train"));
  optim::Optimizer::from_config(job.optimizer, job.graph.parameters());  // a mistake there is reported now, not after the data are read
  return job;
}

}  // namespace trireme::train
