// SPDX-License-Identifier: Apache-2.0
// Where a run speaks; tests read it.
#pragma once

#include <ostream>

namespace trireme::run {

struct Console {
  std::ostream& out;  // the answer
  std::ostream& err;  // everything else
};

}  // namespace trireme::run
