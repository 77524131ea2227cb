// SPDX-License-Identifier: Apache-2.0
// predict: a trained model's answers for image files or samples of a data set.
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "trireme/base/clock.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/trained_model.h"
#include "trireme/data/images/image_files.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/data/source/subset.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> images;
  std::string part = "test";
  std::int64_t limit = 10;
  std::int64_t top = 3;
  std::vector<std::string> settings;
  bool last = false;
  bool json = false;
};

struct Samples {
  std::shared_ptr<const data::Source> source;
  bool labelled = false;
};

Samples image_samples(const Options& o, const TrainedModel& model) {
  const graph::Graph& graph = model.job.graph;
  const data::DataRequest& trained_on = model.job.data;
  const auto fit_of = trained_on.reader->image_fit;
  const data::ImageFit fit = fit_of == nullptr ? data::ImageFit{} : fit_of(trained_on.reader_options);
  return {data::image_files({o.images.begin(), o.images.end()}, graph.node(graph.inputs().at(0)).shape, fit), false};
}

Samples set_samples(const Options& o, const TrainedModel& model) {
  const data::DataSets sets = data::open_data(model.job.data, run::cache_directory());
  auto source = data::part_named(sets, o.part);
  train::check_fit(model.job.graph, source->format(), model.job.data.title());
  if (o.limit > 0 && o.limit < source->size()) {
    std::vector<std::int64_t> first(static_cast<std::size_t>(o.limit));
    std::iota(first.begin(), first.end(), std::int64_t{0});
    source = std::make_shared<data::Subset>(source, std::move(first));
  }
  return {source, source->format().classes > 0};
}

std::vector<std::size_t> best_first(std::span<const float> outputs, std::int64_t top) {
  std::vector<std::size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return outputs[a] > outputs[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  return order;
}

class Printer {
 public:
  Printer(const TrainedModel& model, const Samples& samples, const Options& options)
      : model_(model), samples_(samples), options_(options), classifies_(model.job.graph.loss() == "softmax_cross_entropy") {}

  void add(std::int64_t index, std::span<const float> outputs) {
    Json answer{{"sample", samples_.source->sample_name(index)}};
    std::vector<std::string> row{samples_.source->sample_name(index)};
    if (samples_.labelled) {
      answer["label"] = samples_.source->label(index);
      row.push_back(model_.class_title(samples_.source->label(index)));
    }
    if (classifies_)
      add_classes(outputs, answer, row);
    else
      add_numbers(outputs, answer, row);
    answers_.push_back(std::move(answer));
    rows_.push_back(std::move(row));
  }

  void print(std::ostream& out) const {
    if (options_.json) {
      out << Json{{"checkpoint", model_.directory.string()}, {"weights", model_.weights()}, {"predictions", answers_}}.dump(2) << "\n";
      return;
    }
    std::vector<TextTable::Column> columns{{"sample"}};
    if (samples_.labelled) columns.push_back({"label"});
    columns.push_back({"prediction"});
    TextTable table(std::move(columns));
    for (const auto& row : rows_) table.add_row(row);
    out << table.to_string();
  }

 private:
  void add_classes(std::span<const float> outputs, Json& answer, std::vector<std::string>& row) const {
    std::string text;
    Json classes = Json::array();
    for (const std::size_t number : best_first(outputs, options_.top)) {
      const std::string title = model_.class_title(static_cast<std::int64_t>(number));
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", title, 100 * outputs[number]);
      classes.push_back({{"class", number}, {"name", title}, {"probability", outputs[number]}});
    }
    answer["classes"] = std::move(classes);
    row.push_back(std::move(text));
  }
  static void add_numbers(std::span<const float> outputs, Json& answer, std::vector<std::string>& row) {
    answer["outputs"] = std::vector<float>(outputs.begin(), outputs.end());
    row.push_back(fmt::format("{:g}", fmt::join(outputs, ", ")));
  }

  const TrainedModel& model_;
  const Samples& samples_;
  const Options& options_;
  bool classifies_;
  std::vector<Json> answers_;
  std::vector<std::vector<std::string>> rows_;
};

int run(const Options& o, const run::Console& console) {
  const SteadyClock clock;
  TrainedModel model = load_trained_model(o.model, o.settings, console, o.last ? Weights::last : Weights::best);
  const Samples samples = o.images.empty() ? set_samples(o, model) : image_samples(o, model);
  Printer printer(model, samples, o);
  make_evaluator(model, clock)
      .predict(samples.source, model.checkpoint.normalization, model.values(),
               [&](std::int64_t index, std::span<const float> outputs) { printer.add(index, outputs); });
  printer.print(console.out);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("model", options->model, "a run, or one of its checkpoints").required().shown_as("RUN");
  arguments.option("images", options->images, "PNG or JPEG files; without them, samples of the run's data").shown_as("IMAGE");
  arguments.option("--part", options->part, "of the data: train, validation or test")
      .one_of({"train", "validation", "test"})
      .shows_default();
  arguments.option("--limit", options->limit, "samples of the data; 0 means all").not_negative().shows_default();
  arguments.option("--top", options->top, "classes to show").positive().shows_default();
  arguments.option("--set", options->settings, "change a setting of the run's job").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.flag("--last", options->last, "the weights after the last step, not those of the best epoch (train.keep_best)");
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry predict() {
  return {.name = "predict", .summary = "a trained model's answers for images or samples of a data set", .declare = declare};
}

}  // namespace trireme::cli::commands
