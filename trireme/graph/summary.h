// SPDX-License-Identifier: Apache-2.0
// A model in numbers, layer by layer: what `trireme describe` shows and the planner reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/graph/graph.h"

namespace trireme::graph {

inline constexpr std::int64_t kBytesPerValue = 4;  // float

struct LayerSummary {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;
  Shape shape;                        // of one sample's output
  std::int64_t parameters = 0;        // trainable values
  std::int64_t states = 0;            // values that are not trained
  Cost cost;                          // of one sample
  std::int64_t activation_bytes = 0;  // of one sample's output
};

struct ModelSummary {
  std::vector<LayerSummary> layers;
  std::string loss;
  std::string output;
  std::int64_t parameters = 0;
  std::int64_t states = 0;
  Cost cost;
  std::int64_t activation_bytes = 0;  // every layer's output of one sample kept; the engine reuses memory and needs less

  std::int64_t parameter_bytes() const { return parameters * kBytesPerValue; }
  std::int64_t activation_bytes_of_batch(std::int64_t batch_size) const { return batch_size * activation_bytes; }
};

ModelSummary summarize(const Graph& graph);

// Neighbouring layers whose names share all but the last part ("stage1/block2/...") as one row each, for long models.
// A row's op is then the number of its layers, e.g. "8 layers", and its inputs are those from outside.
std::vector<LayerSummary> fold_blocks(const std::vector<LayerSummary>& layers);

}  // namespace trireme::graph
