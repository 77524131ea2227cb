// SPDX-License-Identifier: Apache-2.0
// A model asked about samples it does not learn from: its score on a set, or its answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "trireme/base/clock.h"
#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/data/pipeline/transform.h"
#include "trireme/data/source/source.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/graph.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// The samples of `batch` as the engine takes them; good as long as the batch is.
engine::BatchView view_of(const data::Batch& batch);

// Throws invalid_argument, saying what to change, if the model can't be trained on or asked about samples of this format.
void check_fit(const graph::Graph& graph, const data::SampleFormat& format, const std::string& title);

// Outputs of a classifier as probabilities.
void softmax(std::span<float> scores);

// Values of a model: all that evaluation needs. Batch-norm statistics are only read; the engine's view just can't say so.
struct ModelValues {
  std::span<const float> parameters;
  std::span<float> states;
};

class Evaluator {
 public:
  struct Options {
    std::int64_t batch_size = 128;
    int threads = 0;
    std::filesystem::path algorithm_cache;
    std::function<bool()> gives_up = {};  // see data::StreamOptions
    std::function<void()> waits = {};     // called when it waits for a batch that is being read; may be empty
    std::function<void()> moved = {};     // called before and after each batch is computed; may be empty
  };
  // `graph` and `clock` must outlive the evaluator.
  Evaluator(const graph::Graph& graph, const Options& options, const Clock& clock);

  Score score(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization, const ModelValues& model);

  // Calls answer(index, outputs) for each sample in order; with softmax cross-entropy the outputs are probabilities.
  using Answer = std::function<void(std::int64_t index, std::span<const float> outputs)>;
  void predict(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization, const ModelValues& model,
               const Answer& answer);
  // The same with the network's outputs as its loss takes them. Before each batch goes_on(samples so far) may end it; empty: it never does.
  using GoesOn = std::function<bool(std::int64_t done)>;
  void run(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization, const ModelValues& model,
           const Answer& answer, const GoesOn& goes_on = {});

 private:
  data::BatchStream stream(const std::shared_ptr<const data::Source>& samples, const data::Normalization& normalization) const;

  const graph::Graph& graph_;
  Options options_;
  const Clock& clock_;
  engine::Executor executor_;
};

}  // namespace trireme::train
