// SPDX-License-Identifier: Apache-2.0
// From when to when a certificate holds, beside what the clock of this machine says.
#pragma once

#include <ctime>
#include <string>

namespace trireme::rpc {

// If `certificate` (a PEM text) does not hold at `now`, the clock or the certificate is wrong: both in words, and what to do. Empty: it
// holds.
std::string clock_fault(const std::string& certificate, std::time_t now);

}  // namespace trireme::rpc
