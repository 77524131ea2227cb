// SPDX-License-Identifier: Apache-2.0
// A network of the zoo: its name, options and how to build it.
#pragma once

#include <any>
#include <string_view>
#include <vector>

#include "trireme/graph/graph.h"
#include "trireme/graph/op_entry.h"

namespace trireme::graph {

// Options called channels, height, width, inputs and classes follow the data where a job leaves them out (model_fit.h).
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
  OptionsType options;
  Graph (*build)(const std::any& options) = nullptr;
};

namespace zoo {
const std::vector<ModelEntry>& catalog();
}
const ModelEntry& find_model(std::string_view name);
// A network of the zoo with its default options.
Graph build_model(std::string_view name);

}  // namespace trireme::graph
