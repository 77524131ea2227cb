// SPDX-License-Identifier: Apache-2.0
// Which of this machine's addresses others should use.
#pragma once

#include <string>

namespace trireme::cluster {

// The address of the interface over which `host` (a name or an address) is reached from here: the one by which it reaches us,
// unless addresses are translated on the way. Nothing is sent.
std::string address_towards(const std::string& host);

// The address of "10.0.0.1:4711" or "[fd00::1]:4711".
std::string without_port(const std::string& endpoint);

}  // namespace trireme::cluster
