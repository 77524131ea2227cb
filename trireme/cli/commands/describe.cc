// SPDX-License-Identifier: Apache-2.0
// describe: a model's layers, shapes, parameters, FLOPs and memory.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/command_entry.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_file.h"
#include "trireme/graph/model_fit.h"
#include "trireme/graph/summary.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/train/job/job.h"

namespace trireme::cli::commands {
namespace {

constexpr std::size_t kLongModel = 60;  // layers; a longer one is folded

struct Options {
  std::string model;
  std::vector<std::string> settings;
  std::int64_t batch_size = 128;
  bool json = false;
  bool all = false;
};

// The name of a model wins over a file or folder that happens to be called the same.
bool is_job_file(const std::string& model) {
  const auto& zoo = graph::zoo::catalog();
  const bool known = std::any_of(zoo.begin(), zoo.end(), [&](const graph::ModelEntry& entry) { return entry.name == model; });
  return !known && (model.ends_with(".toml") || std::filesystem::is_regular_file(model));
}

// The form of the job's samples, if they are on this machine.
std::optional<data::SampleFormat> data_at_hand(Config& job, std::string& why) {
  if (job.find("data") == nullptr) {
    why = "the job has no [data]";
    return std::nullopt;
  }
  try {
    if (const fetch::SetEntry* set = run::public_set(job)) run::name_files(job, *set, run::data_directory());
    return data::open_sources(data::data_request(job.at("data"))).train->format();
  } catch (const Error& error) {  // a model can be described without its data
    why = error.what();
    return std::nullopt;
  }
}

Config fitted_model(Config job, const run::Console& console) {
  std::string why;
  if (const auto format = data_at_hand(job, why)) return train::fit_to_data(job, *format).at("model");
  const Config& model = job.at("model");
  if (!graph::is_complete(model))
    throw Error{failed_precondition, "{}: this model leaves sizes to its data, which can't be read: {}", model.origin(), why};
  console.err << fmt::format("note: sizes that the job leaves to its data are the model's defaults, since these can't be read: {}\n", why);
  return model;
}

graph::Graph load_model(const Options& o, const run::Console& console) {
  if (is_job_file(o.model)) {
    const Config job = run::load_job(o.model, o.settings);
    if (job.find("model") == nullptr) throw Error{invalid_argument, "{}: the table [model] is missing", o.model};
    return graph::graph_from_config(fitted_model(job, console));
  }
  graph::find_model(o.model);  // a wrong name is the first thing to say
  Config job;
  job.set("model", "{}", "");
  job.set("model.name", fmt::format("'{}'", o.model), "");
  run::apply_settings(job, o.settings);
  return graph::graph_from_config(job.at("model"));
}

Json to_json(const graph::LayerSummary& layer) {
  return {{"name", layer.name},
          {"op", layer.op},
          {"inputs", layer.inputs},
          {"shape", std::vector<std::int64_t>(layer.shape.begin(), layer.shape.end())},
          {"parameters", layer.parameters},
          {"states", layer.states},
          {"forward_flops", layer.cost.forward_flops},
          {"backward_flops", layer.cost.backward_flops},
          {"activation_bytes", layer.activation_bytes}};
}

void print_json(const Options& o, const graph::ModelSummary& summary, std::ostream& out) {
  Json layers = Json::array();
  for (const graph::LayerSummary& layer : summary.layers) layers.push_back(to_json(layer));
  const Json document = {{"model", o.model},
                         {"loss", summary.loss},
                         {"output", summary.output},
                         {"parameters", summary.parameters},
                         {"states", summary.states},
                         {"parameter_bytes", summary.parameter_bytes()},
                         {"forward_flops", summary.cost.forward_flops},
                         {"backward_flops", summary.cost.backward_flops},
                         {"activation_bytes", summary.activation_bytes},
                         {"batch_size", o.batch_size},
                         {"batch_activation_bytes", summary.activation_bytes_of_batch(o.batch_size)},
                         {"layers", std::move(layers)}};
  out << document.dump(2) << "\n";
}

// Only what is not plain to see: most layers take the one above them.
std::string inputs_text(const std::vector<graph::LayerSummary>& rows, std::size_t at) {
  const std::vector<std::string>& inputs = rows[at].inputs;
  if (at > 0 && inputs.size() == 1 && inputs[0] == rows[at - 1].name) return "";
  return fmt::format("{}", fmt::join(inputs, ", "));
}

void print_layers(const std::vector<graph::LayerSummary>& rows, std::ostream& out) {
  constexpr auto kRight = TextTable::Align::right;
  TextTable table({{"layer"},
                   {"op"},
                   {"output", kRight},
                   {"parameters", kRight},
                   {"forward FLOPs", kRight},
                   {"backward FLOPs", kRight},
                   {"input, if not the layer above"}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const graph::LayerSummary& row = rows[i];
    table.add_row({row.name, row.op, row.shape.to_string(), row.parameters == 0 ? "" : with_thousands(row.parameters),
                   row.cost.forward_flops == 0 ? "" : human_count(row.cost.forward_flops),
                   row.cost.backward_flops == 0 ? "" : human_count(row.cost.backward_flops), inputs_text(rows, i)});
  }
  out << table.to_string();
}

void print_totals(const Options& o, const graph::ModelSummary& summary, std::ostream& out) {
  out << fmt::format("\nlayers       {}, loss {}\n", summary.layers.size(), summary.loss)
      << fmt::format("parameters   {} ({}), and {} values that are not trained\n", with_thousands(summary.parameters),
                     human_bytes(static_cast<double>(summary.parameter_bytes())), with_thousands(summary.states))
      << fmt::format("FLOPs        {} forward, {} backward for a sample\n", human_count(summary.cost.forward_flops),
                     human_count(summary.cost.backward_flops))
      << fmt::format("activations  {} for a sample, {} for a batch of {}; at most, as memory is reused\n",
                     human_bytes(static_cast<double>(summary.activation_bytes)),
                     human_bytes(static_cast<double>(summary.activation_bytes_of_batch(o.batch_size))), o.batch_size);
}

int run(const Options& o, const run::Console& console) {
  const graph::ModelSummary summary = graph::summarize(load_model(o, console));
  if (o.json) {
    print_json(o, summary, console.out);
    return 0;
  }
  const std::vector<graph::LayerSummary> folded = graph::fold_blocks(summary.layers);
  const bool fold = !o.all && summary.layers.size() > kLongModel && folded.size() < summary.layers.size();
  print_layers(fold ? folded : summary.layers, console.out);
  print_totals(o, summary, console.out);
  if (fold) console.out << "\nBlocks are shown as one row; --all shows every layer.\n";
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("model", options->model, "a model of 'trireme list models', or a job file").required().shown_as("MODEL|job.toml");
  arguments.option("--batch-size", options->batch_size, "samples of a batch, for its memory")
      .shows_default()
      .shown_as("N")
      .between(1, 1 << 20);
  arguments.option("--set", options->settings, "change a setting, e.g. model.depth=50").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.flag("--all", options->all, "every layer of a long model, not its blocks");
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry describe() {
  return {.name = "describe", .summary = "show a model's layers, parameters, FLOPs and memory", .declare = declare};
}

}  // namespace trireme::cli::commands
