// SPDX-License-Identifier: Apache-2.0
// Looks up ops by name.
#include "trireme/graph/op_entry.h"

#include "trireme/base/catalog_lookup.h"

namespace trireme::graph {

const OpEntry& find_op(std::string_view name) { return find_entry(ops::catalog(), name, "op"); }

}  // namespace trireme::graph
