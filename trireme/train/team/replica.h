// SPDX-License-Identifier: Apache-2.0
// A model at work on this worker: its values, and what computes gradients and updates with them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/engine/executor.h"
#include "trireme/optim/optimizer.h"
#include "trireme/train/job/job.h"

namespace trireme::train {

class Replica {
 public:
  // `job` must outlive the replica. Draws the initial values.
  Replica(const Job& job, std::filesystem::path algorithm_cache);

  void reset();  // to the initial values
  // Of the loss of training steps, by class; empty: all samples count the same.
  void set_class_weights(std::vector<float> weights) { class_weights_ = std::move(weights); }

  // For batches of at most `samples`. Costs nothing if it is compiled for just that many.
  void compile(std::int64_t samples);
  // Of nothing, if this node computes nothing.
  const engine::CompileReport& compile_report() const;

  // Gradients of the mean loss over this worker's samples. Of no samples they are zero.
  engine::Outcome compute(const data::Batch& batch, const engine::GradientReady& ready = {},
                          const engine::StatisticsExchange& statistics = {}, const engine::ParametersNeeded& needed = {});
  // Not null: training steps record there what ran when.
  void watch(engine::OpTimes* times);
  const engine::OpTable* ops() const { return executor_ ? &executor_->ops() : nullptr; }
  void update(double learning_rate, std::int64_t step);

  const ParameterSpace& space() const { return job_.graph.parameters(); }
  const optim::Optimizer& optimizer() const { return optimizer_; }
  std::vector<float>& parameters() { return parameters_; }
  const std::vector<float>& parameters() const { return parameters_; }
  std::vector<float>& states() { return states_; }
  const std::vector<float>& states() const { return states_; }
  std::vector<std::vector<float>>& slots() { return slots_; }
  const std::vector<std::vector<float>>& slots() const { return slots_; }

  // What workers report to each other beside gradients lies right before them, so that one exchange carries both.
  static constexpr std::size_t kHead = 16;  // floats: a cache line
  std::span<float> head() { return std::span(exchanged_).first(kHead); }
  std::span<float> gradients() { return std::span(exchanged_).subspan(kHead); }
  std::span<float> exchanged() { return exchanged_; }

 private:
  const Job& job_;
  std::filesystem::path algorithm_cache_;
  optim::Optimizer optimizer_;
  std::vector<float> parameters_;
  std::vector<float> exchanged_;  // head, then gradients
  std::vector<float> states_;
  std::vector<std::vector<float>> slots_;
  std::vector<float> class_weights_;
  std::int64_t capacity_ = 0;
  std::optional<engine::Executor> executor_;
};

}  // namespace trireme::train
