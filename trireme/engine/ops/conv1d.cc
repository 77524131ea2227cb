// SPDX-License-Identifier: Apache-2.0
// conv1d on oneDNN: a convolution over images of one row.
#include "trireme/engine/convolution.h"
#include "trireme/engine/lowering.h"
#include "trireme/graph/op_options.h"

namespace trireme::engine::ops {
namespace {

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  const graph::Node& node = lowering.node(group.leader);
  const Shape& x = lowering.node(node.inputs[0]).shape;
  const auto& o = node.options_as<graph::ConvOptions>();
  return lower_convolution(group, lowering.graph(), graph::Window{.outputs = 1}, graph::window_over(x[1], o.kernel, o.stride, o.padding));
}

}  // namespace

OpEntry conv1d() { return {.name = "conv1d", .fuses_relu = true, .lower = lower}; }

}  // namespace trireme::engine::ops
