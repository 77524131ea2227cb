// SPDX-License-Identifier: Apache-2.0
// The engine against ten training steps recorded from PyTorch in double precision: losses, gradients, statistics.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/golden/recording.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/running_statistics.h"

namespace trireme::golden {
namespace {

// Plain float32 reaches 1e-6; Winograd convolutions, which the engine may choose, lose up to two digits.
constexpr double kLossTolerance = 1e-4;
constexpr double kGradientTolerance = 1e-4;  // of the slice's norm ...
constexpr double kGradientNoise = 1e-6;      // ... plus of the whole gradient's: a bias before batch norm has gradient zero
constexpr double kStateTolerance = 1e-3;

class EngineGolden : public testing::TestWithParam<std::string> {
 protected:
  EngineGolden()
      : gradients_(parameters_.size()),
        states_(static_cast<std::size_t>(graph_.states().size())),
        images_(images_of(recording_, graph_)),
        labels_(labels_of(recording_)) {
    graph_.initialize_states(states_);
    // Recorded is the moving mean alone, from 0 and 1: that of a network with many updates behind it.
    for (std::size_t slice = 0; slice < graph_.states().slices().size(); ++slice)
      if (graph_.states()[slice].name.ends_with("/updates"))
        states_[static_cast<std::size_t>(graph_.states()[slice].offset)] = graph::kManyUpdates;
  }

  engine::Outcome step(engine::Executor& executor, std::int64_t number) {
    const std::vector<std::uint64_t> keys = sample_keys_of(recording_, number);
    return executor.train_step({.size = recording_.batch_size, .inputs = {images_}, .labels = labels_, .sample_keys = keys},
                               {.parameters = parameters_, .states = states_, .gradients = gradients_});
  }

  void descend() {
    const auto rate = static_cast<float>(recording_.learning_rate);
    for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i] -= rate * gradients_[i];
  }

  double gradient_norm() const {
    double sum = 0;
    for (const RecordedGradient& recorded : recording_.gradients) sum += recorded.norm * recorded.norm;
    return std::sqrt(sum);
  }

  void expect_gradient(std::size_t index) const {
    const Slice& slice = graph_.parameters()[index];
    const RecordedGradient& recorded = recording_.gradients[index];
    ASSERT_EQ(slice.name, recorded.name);
    SCOPED_TRACE(slice.name);
    const auto values = std::span(gradients_).subspan(static_cast<std::size_t>(slice.offset), static_cast<std::size_t>(slice.count));
    const double tolerance = kGradientTolerance * recorded.norm + kGradientNoise * gradient_norm();
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value) * value;
    EXPECT_NEAR(std::sqrt(sum), recorded.norm, tolerance);
    for (std::size_t p = 0; p < recorded.projections.size(); ++p)
      EXPECT_NEAR(project(recording_, values, index, p), recorded.projections[p], tolerance) << "projection " << p;
    for (std::size_t i = 0; i < recorded.places.size(); ++i)
      EXPECT_NEAR(values[static_cast<std::size_t>(recorded.places[i])], recorded.values[i], tolerance) << "value " << recorded.places[i];
  }

  void expect_step(const engine::Outcome& outcome, std::size_t number) const {
    const RecordedStep& recorded = recording_.steps[number];
    SCOPED_TRACE(testing::Message() << "step " << number);
    EXPECT_EQ(outcome.samples, recording_.batch_size);
    EXPECT_NEAR(outcome.loss, recorded.loss, kLossTolerance * recorded.loss);
    EXPECT_NEAR(outcome.penalty, recorded.penalty, kLossTolerance * recorded.penalty);
    EXPECT_EQ(outcome.correct, recorded.correct);
  }

  void expect_states() const {
    for (const RecordedState& recorded : recording_.states) {
      SCOPED_TRACE(recorded.name);
      const Slice* slice = graph_.states().find(recorded.name);
      ASSERT_NE(slice, nullptr);
      ASSERT_EQ(slice->count, recorded.count);
      double sum = 0;
      for (std::int64_t i = 0; i < slice->count; ++i) sum += std::pow(states_[static_cast<std::size_t>(slice->offset + i)], 2);
      EXPECT_NEAR(std::sqrt(sum), recorded.norm, kStateTolerance * recorded.norm);
      EXPECT_NEAR(states_[static_cast<std::size_t>(slice->offset)], recorded.first, kStateTolerance * recorded.norm);
    }
  }

  const Recording recording_ = load_recording(GetParam());
  const graph::Graph graph_ = graph_of(recording_);
  std::vector<float> parameters_ = initial_parameters(recording_, graph_);
  std::vector<float> gradients_;
  std::vector<float> states_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
};

TEST_P(EngineGolden, GradientsOfTheFirstStep) {
  engine::Executor executor(graph_, {.batch_size = recording_.batch_size, .threads = 2});
  expect_step(step(executor, 0), 0);
  ASSERT_EQ(graph_.parameters().slices().size(), recording_.gradients.size());
  for (std::size_t slice = 0; slice < recording_.gradients.size(); ++slice) expect_gradient(slice);
}

// The last batch of an epoch is often smaller than the one compiled for.
TEST_P(EngineGolden, GradientsOfAPartialBatch) {
  engine::Executor executor(graph_, {.batch_size = recording_.batch_size + 3, .threads = 1});
  expect_step(step(executor, 0), 0);
  for (std::size_t slice = 0; slice < recording_.gradients.size(); ++slice) expect_gradient(slice);
}

// With direct convolutions: ten steps amplify Winograd's rounding beyond the tolerance.
TEST_P(EngineGolden, TenStepsOfDescent) {
  engine::Executor executor(graph_, {.batch_size = recording_.batch_size, .threads = 1, .algorithms = engine::Algorithms::direct});
  for (std::size_t number = 0; number < recording_.steps.size(); ++number) {
    expect_step(step(executor, static_cast<std::int64_t>(number)), number);
    descend();
  }
  expect_states();
}

INSTANTIATE_TEST_SUITE_P(Recorded, EngineGolden, testing::ValuesIn(recorded_names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace trireme::golden
