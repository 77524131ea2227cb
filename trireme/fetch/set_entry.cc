// SPDX-License-Identifier: Apache-2.0
// Sets by name.
#include "trireme/fetch/set_entry.h"

#include <algorithm>

namespace trireme::fetch {

const SetEntry* find_set(std::string_view name) {
  const auto& entries = sets::catalog();
  const auto found = std::ranges::find(entries, name, &SetEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace trireme::fetch
