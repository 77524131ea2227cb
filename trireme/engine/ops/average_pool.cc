// SPDX-License-Identifier: Apache-2.0
// average_pool on oneDNN.
#include "trireme/engine/lowering.h"
#include "trireme/engine/pooling.h"

namespace trireme::engine::ops {
namespace {

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return lower_pooling(group, lowering.graph(), dnnl::algorithm::pooling_avg_exclude_padding);
}

}  // namespace

OpEntry average_pool() { return {.name = "average_pool", .lower = lower}; }

}  // namespace trireme::engine::ops
