// SPDX-License-Identifier: Apache-2.0
// A kind of data that people have: each file of kinds/ recognises one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trireme/inspect/finding.h"
#include "trireme/inspect/place.h"

namespace trireme::inspect {

struct KindEntry {
  std::string_view name;
  std::string_view looked_for;  // for a person whose data are of no kind: "a folder with a sub-folder of pictures for each class"
  int order = 0;                // kinds are asked in ascending order; the first that finds something is taken

  // Nothing if the place is of another kind. Throws, saying what to do, if it is of this kind but nothing can be trained on it.
  std::optional<Finding> (*find)(const Place& place, const Wishes& wishes) = nullptr;
};

namespace kinds {
const std::vector<KindEntry>& catalog();
}

}  // namespace trireme::inspect
