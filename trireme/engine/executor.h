// SPDX-License-Identifier: Apache-2.0
// A graph compiled for a batch size on this CPU: forward, loss and backward without an allocation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trireme/engine/op_times.h"
#include "trireme/graph/graph.h"

namespace trireme::engine {

enum class Mode { train, evaluate };

// timed: the fastest here, e.g. Winograd, which rounds more. direct: always the same, for runs that must repeat to the bit elsewhere.
enum class Algorithms { timed, direct };

struct ExecutorOptions {
  std::int64_t batch_size = 128;
  Mode mode = Mode::train;
  int threads = 0;  // 0: every core this process may use
  Algorithms algorithms = Algorithms::timed;
  std::filesystem::path algorithm_cache;  // where timed choices are remembered; empty: nowhere
};

struct BatchView {
  std::int64_t size = 0;                       // samples that are there, at most the compiled batch size
  std::vector<std::span<const float>> inputs;  // one a graph input: size x its shape, plain row-major
  std::span<const std::int32_t> labels;        // for softmax_cross_entropy
  std::span<const float> targets;              // for mean_squared_error: size x output shape
  std::span<const std::uint64_t> sample_keys;  // a random stream a sample, for dropout; may be empty without dropout
  std::span<const float> class_weights;        // by which a sample's loss is multiplied, by its label; empty: all count the same
};

// The flat spaces of the model, owned by the caller.
struct ModelView {
  std::span<const float> parameters;
  std::span<float> states;     // batch-norm statistics; updated by a training step, read by evaluation
  std::span<float> gradients;  // of the mean loss over the batch plus the penalty; only for training
};

struct Outcome {
  std::int64_t samples = 0;
  std::int64_t correct = 0;    // samples whose highest output is at the label
  double loss = 0;             // mean data loss of the samples
  double penalty = 0;          // L2 regularisation, apart
  double forward_seconds = 0;  // of a training step: until the loss was known
};

// Called during backward as soon as the gradient of a slice of graph.parameters() is final, last layers first.
using GradientReady = std::function<void(std::size_t slice)>;

// Called before a training step first reads the values of a slice, once a slice, in the order of forward, by the thread that called
// train_step. From the call of GradientReady for a slice until this one returns in the next step its values may change.
using ParametersNeeded = std::function<void(std::size_t slice)>;

// Lets batch normalisation see a batch that is divided over several workers. All make the same step on their own samples (at least one
// each) of the same graph; then the gradients, averaged with the workers' shares of the samples as weights, are those of one worker with
// all samples, and the states are equal everywhere.
struct StatisticsExchange {
  std::int64_t samples = 0;                    // of all workers
  std::function<void(std::span<double>)> sum;  // sums over all workers, in place; called once a batch_norm forward, once backward
};

struct OpTime {
  std::string name;      // "conv2d_3 backward weights"
  std::string category;  // "convolution", "batch norm" ...
  double seconds = 0;
};

struct CompileReport {
  double seconds = 0;                 // all of compilation
  std::int64_t timed = 0;             // primitives whose algorithm had to be chosen by timing
  std::int64_t remembered = 0;        // ... was found in the cache
  std::int64_t activation_bytes = 0;  // the arena, as planned by liveness
  std::int64_t scratch_bytes = 0;
  int threads = 1;
};

class Executor {
 public:
  Executor(const graph::Graph& graph, const ExecutorOptions& options);
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  Outcome train_step(const BatchView& batch, const ModelView& model, const GradientReady& ready = {},
                     const StatisticsExchange& exchange = {}, const ParametersNeeded& needed = {});
  Outcome evaluate(const BatchView& batch, const ModelView& model);                       // compiled with Mode::evaluate
  void predict(const BatchView& batch, const ModelView& model, std::span<float> output);  // as evaluate, without labels

  // One training step with a clock around every op.
  std::vector<OpTime> profile_step(const BatchView& batch, const ModelView& model);

  // From now on each training step reports here when what ran, until null is given: then it costs a branch an op.
  void watch(OpTimes* times);
  const OpTable& ops() const;

  const CompileReport& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::engine
