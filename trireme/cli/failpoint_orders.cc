// SPDX-License-Identifier: Apache-2.0
// Failpoints are armed by the environment.
#include "trireme/cli/failpoint_orders.h"

#include <cstdlib>

#include "trireme/base/failpoint.h"

namespace trireme::cli {

void obey_failpoint_orders(std::string_view node) {
  if (const char* orders = std::getenv("TRIREME_FAILPOINTS")) arm_failpoints(orders, node);
}

}  // namespace trireme::cli
