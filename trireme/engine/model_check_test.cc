// SPDX-License-Identifier: Apache-2.0
// Comparison of the engine with the reference kernels: forward values directly, gradients by finite differences.
#include "trireme/engine/testing/model_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/reference.h"

namespace trireme::engine {
namespace {

// Random data for one comparison, held in both precisions.
class Problem {
 public:
  Problem(const graph::Graph& graph, const CheckOptions& options) : graph_(graph), options_(options), random_(options.seed) {
    parameters_.resize(static_cast<std::size_t>(graph.parameters().size()));
    states_.resize(static_cast<std::size_t>(graph.states().size()));
    graph.initialize_parameters(parameters_, options.seed);
    graph.initialize_states(states_);
    // Away from zero and one, so that a forgotten bias or gamma shows.
    for (float& value : parameters_) value += static_cast<float>(random_.uniform(-0.1, 0.1));
    for (float& value : states_) value += static_cast<float>(random_.uniform(0.0, 0.2));
    for (const graph::NodeId input : graph.inputs()) inputs_.push_back(noise(graph.node(input).shape.count()));
    targets_ = noise(graph.node(graph.output()).shape.count());
    for (std::int64_t n = 0; n < options.samples; ++n) keys_.push_back(random_.bits());
  }

  BatchView batch() const {
    BatchView view{.size = options_.samples, .targets = targets_, .sample_keys = keys_};
    for (const auto& input : inputs_) view.inputs.emplace_back(input);
    return view;
  }
  std::vector<float>& parameters() { return parameters_; }
  std::vector<float>& states() { return states_; }

  std::vector<double> reference_output(const std::vector<double>& parameters, bool training) const {
    std::vector<std::vector<double>> inputs;
    for (const auto& input : inputs_) inputs.emplace_back(input.begin(), input.end());
    const std::vector<double> states(states_.begin(), states_.end());
    graph::ReferenceInput call{
        .batch = options_.samples, .training = training, .parameters = parameters, .states = states, .sample_keys = keys_};
    for (const auto& input : inputs) call.inputs.emplace_back(input);
    return graph::run_reference(graph_, call)[graph_.output()];
  }

  double reference_loss(const std::vector<double>& parameters, bool training = true) const {
    const auto output = reference_output(parameters, training);
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += std::pow(output[i] - static_cast<double>(targets_[i]), 2);
    double penalty = 0;
    for (const Slice& slice : graph_.parameters().slices()) {
      for (std::int64_t i = 0; i < slice.count; ++i)
        penalty += slice.l2 * std::pow(parameters[static_cast<std::size_t>(slice.offset + i)], 2);
    }
    return sum / static_cast<double>(output.size()) + penalty;
  }

  double finite_difference(std::size_t index) const {
    constexpr double kStep = 1e-5;
    std::vector<double> moved(parameters_.begin(), parameters_.end());
    moved[index] += kStep;
    const double above = reference_loss(moved);
    moved[index] -= 2 * kStep;
    return (above - reference_loss(moved)) / (2 * kStep);
  }

  RandomStream& random() { return random_; }

 private:
  std::vector<float> noise(std::int64_t per_sample) {
    std::vector<float> values(static_cast<std::size_t>(options_.samples * per_sample));
    for (float& value : values) value = static_cast<float>(random_.normal());
    return values;
  }

  const graph::Graph& graph_;
  CheckOptions options_;
  RandomStream random_;
  std::vector<float> parameters_, states_, targets_;
  std::vector<std::vector<float>> inputs_;
  std::vector<std::uint64_t> keys_;
};

double largest(std::span<const float> values) {
  double most = 0;
  for (const float value : values) most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

void compare_gradients(const graph::Graph& graph, Problem& problem, const std::vector<float>& gradients, int per_slice) {
  for (const Slice& slice : graph.parameters().slices()) {
    const double scale = largest({gradients.data() + slice.offset, static_cast<std::size_t>(slice.count)});
    for (int i = 0; i < per_slice; ++i) {
      const auto index = static_cast<std::size_t>(slice.offset) + problem.random().below(static_cast<std::uint64_t>(slice.count));
      EXPECT_NEAR(static_cast<double>(gradients[index]), problem.finite_difference(index), 2e-3 * scale + 1e-5)
          << "gradient of " << slice.name << ", value " << index - static_cast<std::size_t>(slice.offset);
    }
  }
}

}  // namespace

void check_training(const graph::Graph& graph, const CheckOptions& options) {
  Problem problem(graph, options);
  Executor executor(graph, {.batch_size = options.samples + options.spare, .threads = options.threads});
  std::vector<float> gradients(problem.parameters().size(), std::nanf(""));
  std::vector<float> states = problem.states();
  const Outcome outcome = executor.train_step(problem.batch(), {problem.parameters(), states, gradients});
  const std::vector<double> parameters(problem.parameters().begin(), problem.parameters().end());
  const double expected = problem.reference_loss(parameters);
  EXPECT_NEAR(outcome.loss + outcome.penalty, expected, 1e-4 * std::abs(expected));
  compare_gradients(graph, problem, gradients, options.differences_per_slice);
}

void check_evaluation(const graph::Graph& graph, const CheckOptions& options) {
  Problem problem(graph, options);
  Executor executor(graph, {.batch_size = options.samples + options.spare, .mode = Mode::evaluate, .threads = options.threads});
  const ModelView model{problem.parameters(), problem.states(), {}};
  const std::vector<double> parameters(problem.parameters().begin(), problem.parameters().end());
  const std::vector<double> expected = problem.reference_output(parameters, false);
  std::vector<float> output(expected.size());
  executor.predict(problem.batch(), model, output);
  const double scale = largest(output);
  for (std::size_t i = 0; i < output.size(); ++i)
    ASSERT_NEAR(static_cast<double>(output[i]), expected[i], 2e-4 * scale + 1e-6) << "output " << i;
  const double loss = problem.reference_loss(parameters, false);
  const Outcome outcome = executor.evaluate(problem.batch(), model);
  EXPECT_NEAR(outcome.loss + outcome.penalty, loss, 1e-4 * std::abs(loss));
}

}  // namespace trireme::engine
