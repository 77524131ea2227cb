// SPDX-License-Identifier: Apache-2.0
// Convolutions over two axes (conv1d has one row), each direction with the algorithm that was fastest here.
#pragma once

#include <memory>

#include "trireme/engine/op_entry.h"
#include "trireme/graph/window.h"

namespace trireme::engine {

std::unique_ptr<Lowered> lower_convolution(const Group& group, const graph::Graph& graph, const graph::Window& rows,
                                           const graph::Window& columns);

}  // namespace trireme::engine
