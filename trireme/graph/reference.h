// SPDX-License-Identifier: Apache-2.0
// Runs a graph with the ops' reference kernels, in double precision: slow, simple, and what the engine is tested against.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/graph/graph.h"

namespace trireme::graph {

struct ReferenceInput {
  std::int64_t batch = 1;
  bool training = true;
  std::vector<std::span<const double>> inputs;  // one a graph input, batch x shape
  std::span<const double> parameters;           // the flat space
  std::span<const double> states;               // may be empty while training
  std::span<const std::uint64_t> sample_keys;   // one a sample; may be empty without dropout
};

// The random stream of one layer for one sample; the engine uses the same.
std::uint32_t layer_key(std::uint64_t sample_key, std::string_view layer);

// All nodes' outputs, batch x shape each, in node order.
std::vector<std::vector<double>> run_reference(const Graph& graph, const ReferenceInput& input);

}  // namespace trireme::graph
