// SPDX-License-Identifier: Apache-2.0
// For tests: a small model, and checkpoints of it whose every value follows from the step, so that a mixed one is seen.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/graph/builder.h"
#include "trireme/train/checkpoint/checkpoint.h"

namespace trireme::train {

inline graph::Graph sample_graph(std::int64_t filters = 4) {
  graph::Builder b;
  const graph::Value x = b.batch_norm(b.conv2d(b.input({3, 6, 6}), {.filters = filters, .kernel = 3}, "first"));
  return b.finish(b.dense(b.flatten(x), {.units = 5}));
}

inline std::vector<float> sample_values(std::int64_t count, std::int64_t step, float tag) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(step) + 1e-3F * static_cast<float>(i) + tag;
  return values;
}

inline Checkpoint sample_checkpoint(const graph::Graph& graph, std::int64_t step) {
  const std::int64_t count = graph.parameters().size();
  const KeptWeights best{.parameters = sample_values(count, step, 0.125F), .states = sample_values(graph.states().size(), step, 0.375F)};
  return {.cursor = {.step = step,
                     .samples_seen = 32 * step,
                     .epoch = step / 10,
                     .epoch_offset = 3,
                     .correct = 17,
                     .left_out = 2,
                     .loss_sum = 0.1 * 3,
                     .penalty = -0.0,
                     .epoch_seconds = 1e-310,
                     .train_seconds = 1e300,
                     .best = std::numeric_limits<double>::infinity(),
                     .best_epoch = -1},
          .generation = 3,
          .parameters = sample_values(count, step, 0),
          .states = sample_values(graph.states().size(), step, 0.25F),
          .slots = {sample_values(count, step, 0.5F), sample_values(count, step, 0.75F)},
          .slot_names = {"first_moment", "second_moment"},
          .normalization = {.kind = "standard", .mean = {0.1F, 0.2F, 0.3F}, .scale = {3, 4, 5}},
          .class_names = {"T-shirt/top", "Ärmel", "\"quoted\""},
          .best = std::make_shared<const KeptWeights>(best)};
}

// Every value and field, not only the step.
inline void expect_is_sample(const Checkpoint& found, const graph::Graph& graph) {
  const Checkpoint wanted = sample_checkpoint(graph, found.cursor.step);
  EXPECT_EQ(found.cursor.samples_seen, wanted.cursor.samples_seen);
  EXPECT_EQ(found.cursor.epoch, wanted.cursor.epoch);
  EXPECT_EQ(found.cursor.epoch_offset, wanted.cursor.epoch_offset);
  EXPECT_EQ(found.cursor.left_out, wanted.cursor.left_out);
  EXPECT_EQ(found.cursor.correct, wanted.cursor.correct);
  EXPECT_EQ(found.cursor.loss_sum, wanted.cursor.loss_sum);
  EXPECT_TRUE(std::signbit(found.cursor.penalty));
  EXPECT_EQ(found.cursor.epoch_seconds, wanted.cursor.epoch_seconds);
  EXPECT_EQ(found.cursor.train_seconds, wanted.cursor.train_seconds);
  EXPECT_EQ(found.cursor.best, wanted.cursor.best);
  EXPECT_EQ(found.cursor.best_epoch, wanted.cursor.best_epoch);
  EXPECT_EQ(found.generation, wanted.generation);
  EXPECT_EQ(found.parameters, wanted.parameters);
  EXPECT_EQ(found.states, wanted.states);
  EXPECT_EQ(found.slots, wanted.slots);
  EXPECT_EQ(found.slot_names, wanted.slot_names);
  EXPECT_EQ(found.normalization.kind, wanted.normalization.kind);
  EXPECT_EQ(found.normalization.mean, wanted.normalization.mean);
  EXPECT_EQ(found.normalization.scale, wanted.normalization.scale);
  EXPECT_EQ(found.class_names, wanted.class_names);
  ASSERT_NE(found.best, nullptr);
  EXPECT_EQ(found.best->parameters, wanted.best->parameters);
  EXPECT_EQ(found.best->states, wanted.best->states);
}

// In memory where the system has such a place: tests write thousands of files.
inline std::filesystem::path quick_folder() {
  return std::filesystem::is_directory("/dev/shm") ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
}

// A store in a folder of the test's own.
class CheckpointTest : public testing::Test {
 protected:
  ~CheckpointTest() override { std::filesystem::remove_all(folder_); }

  void save(std::int64_t step) const { store_.save(sample_checkpoint(graph_, step)); }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  const graph::Graph graph_ = sample_graph();
  const std::filesystem::path folder_ =
      quick_folder() / ("trireme_checkpoint_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
  const CheckpointStore store_{folder_, graph_};
};

}  // namespace trireme::train
