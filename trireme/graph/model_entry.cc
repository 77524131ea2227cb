// SPDX-License-Identifier: Apache-2.0
// Look-up of the zoo's networks by name.
#include "trireme/graph/model_entry.h"

#include "trireme/base/catalog_lookup.h"

namespace trireme::graph {

const ModelEntry& find_model(std::string_view name) { return find_entry(zoo::catalog(), name, "model"); }

Graph build_model(std::string_view name) {
  const ModelEntry& model = find_model(name);
  return model.build(model.options.defaults());
}

}  // namespace trireme::graph
