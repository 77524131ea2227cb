// SPDX-License-Identifier: Apache-2.0
// Cuts a batch into parts that fit into a core's caches, dealt to lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "trireme/engine/program.h"
#include "trireme/graph/graph.h"

namespace trireme::engine {

// Batch normalisation and the convolutions around it are bound by memory and gain from running part by part; convolutions alone
// are better off with the whole batch.
bool gains_from_parts(const graph::Graph& graph);

// Equal parts, the same number a lane; the last may reach beyond the batch. `block`: channels in a block.
std::vector<Part> cut_into_parts(const graph::Graph& graph, std::int64_t batch, int threads, int block);

}  // namespace trireme::engine
