// SPDX-License-Identifier: Apache-2.0
// Maximum and average over windows.
#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "trireme/engine/op_entry.h"

namespace trireme::engine {

std::unique_ptr<Lowered> lower_pooling(const Group& group, const graph::Graph& graph, dnnl::algorithm algorithm);

}  // namespace trireme::engine
