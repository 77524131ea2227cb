// SPDX-License-Identifier: Apache-2.0
// The [model] table of a job file as a graph; docs/job-file.md explains how to write it.
#pragma once

#include "trireme/base/config.h"
#include "trireme/graph/graph.h"

namespace trireme::graph {

// Either `name` and the options of a network of the zoo, or `[[model.layers]]`.
// Throws invalid_argument with the place in the file, the layer and the nearest name that would be right.
Graph graph_from_config(const Config& model);

// What can be checked of [[model.layers]] whose sizes are still to come from the data: each layer's op and options.
void check_layers(const Config& model);

}  // namespace trireme::graph
