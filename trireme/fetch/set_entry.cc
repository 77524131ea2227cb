// SPDX-License-Identifier: Apache-2.0
// Looks up public data sets by name.
#include "trireme/fetch/set_entry.h"

#include <algorithm>

namespace trireme::fetch {

std::vector<SetFile> SetEntry::files() const {
  std::vector<SetFile> all = train;
  all.insert(all.end(), test.begin(), test.end());
  return all;
}

std::int64_t SetEntry::bytes() const {
  std::int64_t sum = 0;
  for (const SetFile& file : files()) sum += file.bytes;
  return sum;
}

const SetEntry* find_set(std::string_view name) {
  const auto& entries = sets::catalog();
  const auto found = std::ranges::find(entries, name, &SetEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace trireme::fetch
