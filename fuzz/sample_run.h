// SPDX-License-Identifier: Apache-2.0
// A small model and a checkpoint of it, which the checkpoint target damages.
#pragma once

#include <array>
#include <string_view>

#include "trireme/graph/builder.h"
#include "trireme/train/checkpoint/checkpoint.h"

namespace trireme::fuzz {

inline constexpr std::array<std::string_view, 4> kCheckpointFiles{"manifest.json", "model.safetensors", "optimizer.safetensors",
                                                                  "SHA256SUMS"};  // as the sums list them

inline graph::Graph sample_graph() {
  graph::Builder b;
  const graph::Value x = b.batch_norm(b.conv2d(b.input({1, 4, 4}), {.filters = 2, .kernel = 3}));
  return b.finish(b.dense(b.flatten(x), {.units = 2}));
}

inline train::Checkpoint sample_checkpoint(const graph::Graph& graph) {
  const auto parameters = static_cast<std::size_t>(graph.parameters().size());
  return {.cursor = {.step = 7, .samples_seen = 70, .epoch = 1, .epoch_offset = 10, .correct = 5, .loss_sum = 2.5},
          .parameters = std::vector<float>(parameters, 0.5F),
          .states = std::vector<float>(static_cast<std::size_t>(graph.states().size()), 1),
          .slots = {std::vector<float>(parameters, 0.25F)},
          .slot_names = {"momentum"},
          .normalization = {.kind = "mean", .mean = {0.1F}, .scale = {2}},
          .class_names = {"cat", "dog"}};
}

}  // namespace trireme::fuzz
