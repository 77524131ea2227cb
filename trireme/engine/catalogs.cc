// SPDX-License-Identifier: Apache-2.0
// Look-ups in the engine's catalogues.
#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/options.h"
#include "trireme/engine/loss_entry.h"
#include "trireme/engine/op_entry.h"

namespace trireme::engine {
namespace {

template <class Entry>
const Entry& find_in(const std::vector<Entry>& catalog, std::string_view name, std::string_view kind) {
  std::vector<std::string_view> names;
  for (const Entry& entry : catalog) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string guess = nearest(name, names);
  throw Error{invalid_argument, "there is no {} '{}'; {}", kind, name,
              guess.empty() ? fmt::format("there are: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", guess)};
}

}  // namespace

const OpEntry& find_op(std::string_view name) { return find_in(ops::catalog(), name, "op"); }
const LossEntry& find_loss(std::string_view name) { return find_in(losses::catalog(), name, "loss"); }

}  // namespace trireme::engine
