// SPDX-License-Identifier: Apache-2.0
// Looks up the rank of a node in a generation.
#include "trireme/coord/generation.h"

#include <algorithm>

namespace trireme::coord {

int Generation::rank_of(const std::string& node) const {
  const auto member = std::ranges::find(members, node, &Member::node);
  return member == members.end() ? -1 : static_cast<int>(member - members.begin());
}

}  // namespace trireme::coord
