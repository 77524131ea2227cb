// SPDX-License-Identifier: Apache-2.0
// relu where it could not be fused into the op before it.
#include "trireme/engine/elementwise.h"
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return lower_elementwise(group, lowering.graph(), dnnl::algorithm::eltwise_relu_use_dst_for_bwd);
}

}  // namespace

OpEntry relu() { return {.name = "relu", .lower = lower}; }

}  // namespace trireme::engine::ops
