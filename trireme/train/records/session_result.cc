// SPDX-License-Identifier: Apache-2.0
// Endings by name.
#include "trireme/train/records/session_result.h"

namespace trireme::train {

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::completed:
      return "completed";
    case Ending::stopped_early:
      return "stopped early";
    case Ending::until:
      return "until";
    case Ending::interrupted:
      return "interrupted";
    case Ending::quorum_lost:
      return "quorum_lost";
  }
  return "";
}

}  // namespace trireme::train
