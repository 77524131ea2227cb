// SPDX-License-Identifier: Apache-2.0
// Class weights in the loss: gradients against finite differences, and weights of 1 change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/builder.h"

namespace trireme::engine {
namespace {

constexpr std::int64_t kSamples = 5;  // the executor is compiled for more
constexpr std::int64_t kInputs = 7;

graph::Graph small_model(std::string_view loss = "softmax_cross_entropy") {
  graph::Builder b;
  graph::Graph graph = b.finish(b.dense(b.tanh(b.dense(b.input({kInputs}), {.units = 6})), {.units = 3}));
  graph.set_loss(std::string(loss));
  return graph;
}

class ClassWeights : public testing::Test {
 protected:
  explicit ClassWeights(graph::Graph graph = small_model())
      : graph_(std::move(graph)),
        executor_(graph_, {.batch_size = kSamples + 3, .threads = 1}),
        parameters_(static_cast<std::size_t>(graph_.parameters().size())),
        gradients_(parameters_.size()) {
    graph_.initialize_parameters(parameters_, 3);
    RandomStream random(4);
    for (float& x : input_) x = static_cast<float>(random.uniform());
  }
  Outcome step(const std::vector<float>& weights) {
    return executor_.train_step({.size = kSamples, .inputs = {input_}, .labels = labels_, .class_weights = weights},
                                {.parameters = parameters_, .states = {}, .gradients = gradients_});
  }

  graph::Graph graph_;
  Executor executor_;
  std::vector<float> parameters_, gradients_;
  std::vector<float> input_ = std::vector<float>(kSamples * kInputs);
  std::vector<std::int32_t> labels_{0, 2, 2, 1, 0};
};

TEST_F(ClassWeights, GradientsAreThoseOfTheWeightedLoss) {
  const std::vector<float> weights{0.25F, 3.0F, 0.0F};
  step(weights);
  const std::vector<float> gradients = gradients_;
  constexpr float kStep = 1e-2F;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const float value = parameters_[i];
    parameters_[i] = value + kStep;
    const double above = step(weights).loss;
    parameters_[i] = value - kStep;
    const double below = step(weights).loss;
    parameters_[i] = value;
    EXPECT_NEAR(gradients[i], (above - below) / (2 * static_cast<double>(kStep)), 2e-4) << "parameter " << i;
  }
}

// sum(w * l) / N, also where the batch is not full.
TEST_F(ClassWeights, TheLossIsTheSumDividedByTheSamples) {
  double sum = 0;
  for (std::size_t label = 0; label < 3; ++label) {
    std::vector<float> only(3, 0.0F);
    only[label] = 1;
    sum += (static_cast<double>(label) + 1) * step(only).loss;
  }
  EXPECT_NEAR(step({1, 2, 3}).loss, sum, 1e-6);
}

TEST_F(ClassWeights, OfOneChangeNothing) {
  const Outcome plain = step({});
  const std::vector<float> gradients = gradients_;
  const Outcome weighted = step({1, 1, 1});
  EXPECT_EQ(weighted.loss, plain.loss);
  EXPECT_EQ(weighted.correct, plain.correct);
  EXPECT_EQ(gradients_, gradients);
}

TEST_F(ClassWeights, MustBeOnePerOutput) {
  EXPECT_THAT(thrown_error([&] { step({1, 2}); }), testing::HasSubstr("class weights"));
}

}  // namespace
}  // namespace trireme::engine
