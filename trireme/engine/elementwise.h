// SPDX-License-Identifier: Apache-2.0
// Functions of single values whose backward needs only their output.
#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "trireme/engine/op_entry.h"

namespace trireme::engine {

// `algorithm` is one of oneDNN's eltwise_*_use_dst_for_bwd.
std::unique_ptr<Lowered> lower_elementwise(const Group& group, const graph::Graph& graph, dnnl::algorithm algorithm);

}  // namespace trireme::engine
