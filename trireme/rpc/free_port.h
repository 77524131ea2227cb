// SPDX-License-Identifier: Apache-2.0
// A port that nobody uses right now.
#pragma once

#include <string>

namespace trireme::rpc {

// Of an IP address of this machine; by the time it is used somebody else may have it.
int free_port(const std::string& address);

}  // namespace trireme::rpc
