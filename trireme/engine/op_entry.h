// SPDX-License-Identifier: Apache-2.0
// How an op is executed: it lowers itself to steps, forward when its inputs are there, backward when its gradient is.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "trireme/graph/graph.h"

namespace trireme::engine {

class Lowering;

// Nodes executed as one: a leader and what was fused into it (a residual addition, a ReLU).
struct Group {
  graph::NodeId leader = 0;
  std::optional<graph::NodeId> residual;  // the other operand of a fused addition
  bool relu = false;
  graph::NodeId last = 0;  // the node whose value the group makes
};

class Lowered {
 public:
  virtual ~Lowered() = default;
  virtual void forward(Lowering& lowering) = 0;
  virtual void backward(Lowering& lowering) = 0;
};

struct OpEntry {
  std::string_view name;
  bool fuses_relu = false;
  bool fuses_add = false;
  bool takes_pieces = false;          // reads a concatenation without a copy
  bool backward_reads_input = false;  // other than through Lowering::with_activation
  std::unique_ptr<Lowered> (*lower)(const Group& group, Lowering& lowering) = nullptr;
};

namespace ops {
const std::vector<OpEntry>& catalog();
}
const OpEntry& find_op(std::string_view name);

}  // namespace trireme::engine
