// SPDX-License-Identifier: Apache-2.0
// tanh, by oneDNN; backward needs only its output.
#include "trireme/engine/elementwise.h"
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return lower_elementwise(group, lowering.graph(), dnnl::algorithm::eltwise_tanh_use_dst_for_bwd);
}

}  // namespace

OpEntry tanh() { return {.name = "tanh", .lower = lower}; }

}  // namespace trireme::engine::ops
