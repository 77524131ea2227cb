// SPDX-License-Identifier: Apache-2.0
// The conformance suite: every op of the catalogue on its odd examples, against reference kernel and finite differences.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/engine/loss_entry.h"
#include "trireme/engine/op_entry.h"
#include "trireme/engine/testing/model_check.h"
#include "trireme/graph/builder.h"

namespace trireme::engine {
namespace {

using graph::Builder;
using graph::Value;

struct Case {
  const graph::OpEntry* op;
  std::size_t example;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const graph::OpEntry& op : graph::ops::catalog()) {
    if (op.name == "input") continue;  // is part of every other case
    for (std::size_t i = 0; i < op.examples().size(); ++i) cases.push_back({&op, i});
  }
  return cases;
}

// A layer with parameters before the op: their gradient is right only if the op's gradient for its input is.
Value probe(Builder& builder, const Shape& shape) {
  const Value input = builder.input(shape);
  if (shape.rank() == 1) return builder.dense(input, {.units = shape[0]});
  const graph::ConvOptions one{.filters = shape[0], .kernel = 1};
  return shape.rank() == 2 ? builder.conv1d(input, one) : builder.conv2d(input, one);
}

graph::Graph model_around(const Case& c) {
  const graph::Example example = c.op->examples()[c.example];
  Builder builder;
  std::vector<Value> inputs;
  for (const Shape& shape : example.inputs) inputs.push_back(probe(builder, shape));
  return builder.finish(builder.apply(c.op->name, example.options, inputs), "mean_squared_error");
}

class OpConformance : public testing::TestWithParam<Case> {};

TEST_P(OpConformance, TrainsLikeTheReference) { check_training(model_around(GetParam()), {}); }
TEST_P(OpConformance, TrainsOnABatchOfOne) { check_training(model_around(GetParam()), {.samples = 1, .seed = 2}); }
TEST_P(OpConformance, TrainsOnPartOfABatchWithTwoThreads) {
  check_training(model_around(GetParam()), {.samples = 4, .spare = 3, .threads = 2, .seed = 3});
}
TEST_P(OpConformance, EvaluatesLikeTheReference) { check_evaluation(model_around(GetParam()), {.samples = 2, .spare = 1}); }

INSTANTIATE_TEST_SUITE_P(Catalog, OpConformance, testing::ValuesIn(all_cases()),
                         [](const auto& c) { return std::string(c.param.op->name) + "_" + std::to_string(c.param.example); });

TEST(OpConformance, EveryOpOfTheGraphHasAKernel) {
  for (const graph::OpEntry& op : graph::ops::catalog()) EXPECT_EQ(find_op(op.name).name, op.name);
  EXPECT_EQ(graph::ops::catalog().size(), ops::catalog().size());
}

class LossConformance : public testing::TestWithParam<LossEntry> {};

TEST_P(LossConformance, GradientIsTheFiniteDifference) {
  constexpr std::int64_t kSamples = 3, kOutputs = 7;
  RandomStream random(5);
  std::vector<float> prediction(kSamples * kOutputs), targets(prediction.size()), gradient(prediction.size());
  for (float& x : prediction) x = static_cast<float>(random.normal());
  for (float& t : targets) t = static_cast<float>(random.normal());
  const std::vector<std::int32_t> labels{0, 6, 3};
  const auto loss_with = [&](float* into) {
    Outcome outcome;
    GetParam().compute(
        {.samples = kSamples, .outputs = kOutputs, .prediction = prediction.data(), .labels = labels, .targets = targets, .gradient = into},
        outcome);
    return outcome.loss;
  };
  loss_with(gradient.data());
  for (std::size_t i = 0; i < prediction.size(); ++i) {
    const float before = prediction[i];
    const float above = before + 0.01F, below = before - 0.01F;
    prediction[i] = above;
    const double high = loss_with(nullptr);
    prediction[i] = below;
    const double low = loss_with(nullptr);
    prediction[i] = before;
    EXPECT_NEAR(static_cast<double>(gradient[i]), (high - low) / static_cast<double>(above - below), 2e-5) << GetParam().name << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, LossConformance, testing::ValuesIn(losses::catalog()),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace trireme::engine
