// SPDX-License-Identifier: Apache-2.0
// How a training ended.
#pragma once

#include <filesystem>
#include <string_view>

#include "trireme/train/records/observer.h"

namespace trireme::train {

// until: as far as it was asked to go. quorum_lost: too few nodes were left to go on. Both can be resumed.
enum class Ending { completed, stopped_early, until, interrupted, quorum_lost };
std::string_view name_of(Ending ending);

struct SessionResult {
  Ending ending = Ending::completed;
  std::filesystem::path checkpoint;  // the last one written or found
  Score test;                        // after a training that came to its end, if there are test samples
};

}  // namespace trireme::train
