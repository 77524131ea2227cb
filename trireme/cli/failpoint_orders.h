// SPDX-License-Identifier: Apache-2.0
// Orders of tests for this process, from the environment variable TRIREME_FAILPOINTS; nothing in what users run.
#pragma once

#include <string_view>

namespace trireme::cli {

// `node` is the name of this node, or "coordinator". Called before threads are started.
void obey_failpoint_orders(std::string_view node);

}  // namespace trireme::cli
