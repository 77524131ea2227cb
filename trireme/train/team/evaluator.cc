// SPDX-License-Identifier: Apache-2.0
// One pass over a set with a model that stays as it is.
#include "trireme/train/team/evaluator.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"

namespace trireme::train {
namespace {

engine::ExecutorOptions executor_options(const Evaluator::Options& options) {
  return {.batch_size = options.batch_size,
          .mode = engine::Mode::evaluate,
          .threads = options.threads,
          .algorithm_cache = options.algorithm_cache};
}

}  // namespace

void softmax(std::span<float> scores) {
  const float highest = *std::ranges::max_element(scores);
  float sum = 0;
  for (float& score : scores) sum += score = std::exp(score - highest);
  for (float& score : scores) score /= sum;
}

engine::BatchView view_of(const data::Batch& batch) {
  return {.size = batch.size, .inputs = {batch.values}, .labels = batch.labels, .targets = batch.targets, .sample_keys = batch.keys};
}

void check_fit(const graph::Graph& graph, const data::SampleFormat& format, const std::string& title) {
  const Shape& input = graph.node(graph.inputs().at(0)).shape;
  if (graph.inputs().size() != 1 || input.count() != format.shape.count())
    throw Error{
        invalid_argument,
        "[model]: takes {}{}, but a sample of '{}' is {}; for a new training leave the sizes of the model out (channels, height, width "
        "or inputs), and they follow the data; for a trained model give samples of its size (pictures: data.height, data.width)",
        input.to_string(),
        graph.inputs().size() > 1 ? " and more inputs" : "",
        title,
        format.shape.to_string()};
  const Shape& output = graph.node(graph.output()).shape;
  if (graph.loss() == "softmax_cross_entropy") {
    if (format.classes == 0)
      throw Error{
          invalid_argument,
          "[model]: the loss softmax_cross_entropy needs classes, but '{}' has numbers to predict; set model.loss to mean_squared_error",
          title};
    if (output.count() < format.classes)
      throw Error{invalid_argument, "[model]: has {} outputs, but '{}' has {} classes; a new training without model.classes has as many",
                  output.to_string(), title, format.classes};
  } else if (output.count() != format.targets) {
    throw Error{invalid_argument,
                "[model]: the loss {} compares {} outputs with {} numbers a sample of '{}'{}",
                graph.loss(),
                output.to_string(),
                format.targets,
                title,
                format.targets == 0 ? "; with labels use softmax_cross_entropy" : ""};
  }
}

Evaluator::Evaluator(const graph::Graph& graph, const Options& options, const Clock& clock)
    : graph_(graph), options_(options), clock_(clock), executor_(graph, executor_options(options)) {}

data::BatchStream Evaluator::stream(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization) const {
  const auto waits_on = [waits = options_.waits](bool) {
    if (waits) waits();
  };
  return {samples, data::Transform(samples->format(), normalization),
          data::StreamOptions{
              .batch_size = options_.batch_size, .shuffle = false, .epochs = 1, .gives_up = options_.gives_up, .waits_on = waits_on},
          clock_};
}

Score Evaluator::score(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization,
                       const ModelValues& model) {
  const ThreadScope threads(executor_.report().threads);
  data::BatchStream batches = stream(samples, normalization);
  Score score;
  std::int64_t correct = 0;
  double loss_sum = 0;
  while (const data::Batch* batch = batches.next()) {
    if (options_.moved) options_.moved();
    const engine::Outcome outcome = executor_.evaluate(view_of(*batch), {.parameters = model.parameters, .states = model.states});
    score.samples += outcome.samples;
    correct += outcome.correct;
    loss_sum += outcome.loss * static_cast<double>(outcome.samples);
    if (options_.moved) options_.moved();
  }
  score.loss = loss_sum / static_cast<double>(score.samples);
  score.accuracy = static_cast<double>(correct) / static_cast<double>(score.samples);
  return score;
}

void Evaluator::predict(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization,
                        const ModelValues& model, const Answer& answer) {
  if (graph_.loss() != "softmax_cross_entropy") return run(samples, normalization, model, answer);
  std::vector<float> probabilities;
  run(samples, normalization, model, [&](std::int64_t index, std::span<const float> outputs) {
    probabilities.assign(outputs.begin(), outputs.end());
    softmax(probabilities);
    answer(index, probabilities);
  });
}

void Evaluator::run(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization, const ModelValues& model,
                    const Answer& answer, const GoesOn& goes_on) {
  const ThreadScope threads(executor_.report().threads);
  data::BatchStream batches = stream(samples, normalization);
  const auto extent = static_cast<std::size_t>(graph_.node(graph_.output()).shape.count());
  std::vector<float> outputs(static_cast<std::size_t>(options_.batch_size) * extent);
  std::int64_t done = 0;
  while (!goes_on || goes_on(done)) {
    const data::Batch* batch = batches.next();
    if (batch == nullptr) return;
    const std::span<float> used = std::span(outputs).first(static_cast<std::size_t>(batch->size) * extent);
    executor_.predict(view_of(*batch), {.parameters = model.parameters, .states = model.states}, used);
    for (std::int64_t row = 0; row < batch->size; ++row)
      answer(batch->offset + row, used.subspan(static_cast<std::size_t>(row) * extent, extent));
    done += batch->size;
  }
}

}  // namespace trireme::train
