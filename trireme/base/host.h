// SPDX-License-Identifier: Apache-2.0
// This machine's name, and addresses with ports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trireme {

std::string host_name();  // empty if the system does not say

// "10.0.0.1:80", "[fe80::1]:80"
std::string join_host_port(std::string_view address, std::int64_t port);
std::string join_host_port(std::string_view address, std::string_view port);

// The port that a socket is bound to, IPv4 or IPv6.
int bound_port(int socket);

}  // namespace trireme
