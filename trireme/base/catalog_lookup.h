// SPDX-License-Identifier: Apache-2.0
// Look-up by name in a catalogue, with a suggestion for the name that is not there.
#pragma once

#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/options.h"

namespace trireme {

// `kind` is the word for an entry in the message, e.g. "op".
template <class Entry>
const Entry& find_entry(const std::vector<Entry>& entries, std::string_view name, std::string_view kind) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string guess = nearest(name, names);
  const std::string hint = guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess);
  const std::string kinds = kind.ends_with('y')   ? fmt::format("{}ies", kind.substr(0, kind.size() - 1))
                            : kind.ends_with('s') ? fmt::format("{}es", kind)
                                                  : fmt::format("{}s", kind);
  throw Error{invalid_argument, "there is no {} '{}'{} ({}: {})", kind, name, hint, kinds, fmt::join(names, ", ")};
}

}  // namespace trireme
