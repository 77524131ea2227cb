// SPDX-License-Identifier: Apache-2.0
// For tests: runs a graph in the engine and beside it in the reference kernels, and compares outputs and gradients.
#pragma once

#include <cstdint>

#include "trireme/graph/graph.h"

namespace trireme::engine {

struct CheckOptions {
  std::int64_t samples = 3;
  std::int64_t spare = 0;  // the engine is compiled for this many samples more
  int threads = 1;
  std::uint64_t seed = 1;
  int differences_per_slice = 6;  // parameters whose gradient is compared to a finite difference
};

// Fails the current GoogleTest test where the engine's output, loss or gradients differ from the reference.
void check_training(const graph::Graph& graph, const CheckOptions& options);
// The same for an executor compiled for evaluation.
void check_evaluation(const graph::Graph& graph, const CheckOptions& options);

}  // namespace trireme::engine
