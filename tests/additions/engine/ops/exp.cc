// SPDX-License-Identifier: Apache-2.0
// exp by oneDNN; backward reads the output.
#include "trireme/engine/elementwise.h"
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return lower_elementwise(group, lowering.graph(), dnnl::algorithm::eltwise_exp_use_dst_for_bwd);
}

}  // namespace

OpEntry exp() { return {.name = "exp", .lower = lower}; }

}  // namespace trireme::engine::ops
