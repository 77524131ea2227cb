// SPDX-License-Identifier: Apache-2.0
// predict: a trained model's answers for image files, whole folders of them, rows of tables, or samples of a data set.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/picture_files.h"
#include "trireme/cli/prediction_csv.h"
#include "trireme/cli/trained_model.h"
#include "trireme/data/images/image_files.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/data/source/subset.h"
#include "trireme/data/source/tolerant_source.h"
#include "trireme/run/learned/assessment.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/count_progress.h"
#include "trireme/run/terminal/exit_code.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> images;
  std::string part = "test";
  std::int64_t limit = 10;
  std::int64_t top = 0;
  std::string csv;
  std::vector<std::string> settings;
  bool last = false;
  bool json = false;
};

constexpr std::int64_t kPrintedTop = 3;  // classes
constexpr std::size_t kNamedFaults = 20;

struct Samples {
  std::shared_ptr<const data::Source> source;
  bool labelled = false;
  std::shared_ptr<const data::TolerantSource> tolerant = nullptr;  // the same, of many pictures
};

// Of pictures for the model. One that takes a row of values may have been trained on pictures: then their shape is known from those.
Shape picture_shape(const TrainedModel& model) {
  const Shape& input = model.job.graph.node(model.job.graph.inputs().at(0)).shape;
  if (input.rank() == 3) return input;
  Shape trained = data::open_sources(model.job.data).train->format().shape;
  if (trained.rank() == 3 && trained.count() == input.count()) return trained;
  throw Error{invalid_argument,
              "the model takes samples of {}, not pictures; for rows of another file of the same form: --set data.test=FILE --limit 0",
              input.to_string()};
}

// A picture of many that is damaged is named and left out; one that was asked for by itself is an error.
Samples image_samples(const Options& o, const TrainedModel& model, const run::Console& console) {
  const Shape shape = picture_shape(model);
  const PictureFiles pictures = find_pictures(o.images);
  if (pictures.passed_over > 0)
    console.err << fmt::format("trireme: passed over {} {} that {} no .png, .jpg or .jpeg\n", with_thousands(pictures.passed_over),
                               pictures.passed_over == 1 ? "file" : "files", pictures.passed_over == 1 ? "is" : "are");

  const data::DataRequest& trained_on = model.job.data;
  const auto fit_of = trained_on.reader->image_fit;
  const data::ImageFit fit = fit_of == nullptr ? data::ImageFit{} : fit_of(trained_on.reader_options);
  std::shared_ptr<const data::Source> files = data::image_files(pictures.files, shape, fit);
  if (!pictures.has_folder && o.csv.empty()) return {.source = std::move(files)};
  auto tolerant = std::make_shared<data::TolerantSource>(std::move(files));
  return {.source = tolerant, .tolerant = tolerant};
}

// Rows of tables that don't have the column to be predicted, or not yet.
Samples unanswered_samples(const Options& o, const TrainedModel& model) {
  auto source = data::open_unanswered(model.job.data, {o.images.begin(), o.images.end()});
  train::check_fit(model.job.graph, source->format(), model.job.data.title());
  return {.source = std::move(source)};
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
  return {.source = source, .labelled = source->format().classes > 0};
}

Samples chosen_samples(const Options& o, const TrainedModel& model, const run::Console& console) {
  if (o.images.empty()) return set_samples(o, model);
  const bool are_tables = model.job.data.reader->open_unanswered != nullptr && !name_pictures(o.images);
  return are_tables ? unanswered_samples(o, model) : image_samples(o, model, console);
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
      : model_(model), samples_(samples), options_(options), classifies_(run::classifies(model.job.graph)) {}

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
    for (const std::size_t number : best_first(outputs, options_.top > 0 ? options_.top : kPrintedTop)) {
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

// The answers of all samples that can be read, in their order, with a progress line.
void for_each_answer(TrainedModel& model, const Samples& samples, const run::Console& console, const train::Evaluator::Answer& answer) {
  const SteadyClock clock;
  run::CountProgress progress(console.err, clock,
                              {.terminal = run::rewrites_lines(STDERR_FILENO),
                               .what = samples.tolerant != nullptr ? "pictures" : "samples",
                               .total = samples.source->size()});
  make_evaluator(model, clock)
      .predict(samples.source, model.checkpoint.normalization, model.values(), [&](std::int64_t index, std::span<const float> outputs) {
        progress.at(index);
        if (samples.tolerant == nullptr || !samples.tolerant->is_faulty(index)) answer(index, outputs);
      });
}

void write_csv(const Options& o, TrainedModel& model, const Samples& samples, const run::Console& console) {
  const graph::Graph& graph = model.job.graph;
  const std::int64_t top = std::max<std::int64_t>(o.top, 1);
  PredictionCsv csv({.subject = o.images.empty() || !name_pictures(o.images) ? "sample" : "file",
                     .labelled = samples.labelled,
                     .classifies = run::classifies(graph),
                     .top = static_cast<std::size_t>(top),
                     .outputs = static_cast<std::size_t>(graph.node(graph.output()).shape.count())},
                    [&](std::int64_t number) { return model.class_title(number); });
  std::int64_t lines = 0;
  for_each_answer(model, samples, console, [&](std::int64_t index, std::span<const float> outputs) {
    ++lines;
    csv.add(samples.source->sample_name(index), samples.labelled ? model.class_title(samples.source->label(index)) : "", outputs,
            best_first(outputs, top));
  });
  if (o.csv == "-") {
    console.out << csv.text();
    return;
  }
  write_file_atomically(o.csv, csv.text());
  console.err << fmt::format("wrote {} {} to {}\n", with_thousands(lines), lines == 1 ? "answer" : "answers", o.csv);
}

// The exit code.
int report_faults(const Samples& samples, const run::Console& console) {
  if (samples.tolerant == nullptr) return run::exit_ok;
  const auto faults = samples.tolerant->faults();
  if (faults.empty()) return run::exit_ok;
  std::size_t named = 0;
  for (const auto& [index, fault] : faults)
    if (named++ < kNamedFaults) console.err << fmt::format("trireme: skipped {}\n", fault);
  if (faults.size() > kNamedFaults)
    console.err << fmt::format("trireme: ... and {} more\n", with_thousands(static_cast<long long>(faults.size() - kNamedFaults)));
  console.err << fmt::format("trireme: {} of {} pictures could not be read and have no answer\n",
                             with_thousands(static_cast<long long>(faults.size())), with_thousands(samples.source->size()));
  return run::exit_failed;
}

int run(const Options& o, const run::Console& console) {
  TrainedModel model = load_trained_model(o.model, o.settings, console, o.last ? Weights::last : Weights::best);
  const Samples samples = chosen_samples(o, model, console);
  if (!o.csv.empty()) {
    write_csv(o, model, samples, console);
  } else {
    Printer printer(model, samples, o);
    for_each_answer(model, samples, console, [&](std::int64_t index, std::span<const float> outputs) { printer.add(index, outputs); });
    printer.print(console.out);
  }
  return report_faults(samples, console);
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("model", options->model, "a run, or one of its checkpoints").required().shown_as("RUN");
  arguments
      .option("images", options->images,
              "PNG or JPEG files, or folders with such files below them, or tables for a model of tables; without any, samples of the "
              "run's data")
      .shown_as("IMAGE|TABLE|FOLDER");
  arguments.option("--part", options->part, "of the data: train, validation or test")
      .one_of({"train", "validation", "test"})
      .shows_default();
  arguments.option("--limit", options->limit, "samples of the data; 0 means all").not_negative().shows_default();
  arguments.option("--top", options->top, "classes to show; 0: 3, with --csv 1").not_negative().shows_default();
  arguments
      .option(
          "--csv", options->csv,
          "write a line for each into this table, - for the standard output; a picture that is damaged is left out, and the exit code is 1")
      .shown_as("FILE");
  arguments.option("--set", options->settings, "change a setting of the run's job").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.flag("--last", options->last, "the weights after the last step, not those of the best epoch (train.keep_best)");
  arguments.flag("--json", options->json, "print JSON").excludes("--csv");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry predict() {
  return {.name = "predict", .summary = "a trained model's answers for images or samples of a data set", .declare = declare};
}

}  // namespace trireme::cli::commands
