// SPDX-License-Identifier: Apache-2.0
// Looks up ops and losses in the engine's catalogues.
#include "trireme/base/catalog_lookup.h"
#include "trireme/engine/loss_entry.h"
#include "trireme/engine/op_entry.h"

namespace trireme::engine {

const OpEntry& find_op(std::string_view name) { return find_entry(ops::catalog(), name, "op"); }
const LossEntry& find_loss(std::string_view name) { return find_entry(losses::catalog(), name, "loss"); }

}  // namespace trireme::engine
