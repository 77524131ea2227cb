// SPDX-License-Identifier: Apache-2.0
// When each step of the program ran, and what it belongs to: a node of the graph, a pass, a category.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme::engine {

enum class Pass { forward, backward };

// A node (with those fused into it) in one pass. What a node makes in another category, such as copies of its weights, is another row.
struct OpRow {
  std::string name;
  std::vector<std::string> fused;  // names of nodes that run with it
  std::string category;            // convolution, dense, batch norm, activation, pooling, loss, copies, exchange
  Pass pass = Pass::forward;
  std::int64_t steps = 0;   // of the program
  double flops = 0;         // of a sample, as the graph's cost has it
  double sample_bytes = 0;  // of a sample and ...
  double weight_bytes = 0;  // ... of a call: inputs, outputs and weights read or written once, an estimate from shapes
};

struct OpTable {
  struct Step {
    std::string name;  // "conv2d_3 backward weights"
    std::size_t row = 0;
  };
  std::vector<Step> steps;  // of the program, then the three below
  std::vector<OpRow> rows;
  std::size_t lanes = 1;

  // Beside the program's steps.
  std::size_t waiting_for_values() const { return steps.size() - 3; }
  std::size_t handing_over() const { return steps.size() - 2; }
  std::size_t penalty() const { return steps.size() - 1; }
};

// One training step; filled by the executor while it is watched. Times are those of SteadyClock, in seconds.
struct OpTimes {
  struct Run {
    std::uint32_t step = 0;  // of the table
    float share = 1;         // of wall time in the time it took: steps by part run on all lanes at once
    double begin = 0;
    double seconds = 0;
  };
  double begin = 0;
  double forward_end = 0;
  double end = 0;
  std::vector<std::vector<Run>> lanes;  // what each thread did, in order; the first is the one that called

  void start(std::size_t count) {
    lanes.resize(count);
    for (std::vector<Run>& lane : lanes) lane.clear();
  }
};

}  // namespace trireme::engine
