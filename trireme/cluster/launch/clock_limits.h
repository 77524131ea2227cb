// SPDX-License-Identifier: Apache-2.0
// How far a machine's clock may be off: a job's certificates do not hold beyond that.
#pragma once

#include <string>

namespace trireme::cluster {

struct ClockLimits {
  double ahead = 30 * 24 * 3600.0;  // seconds: the validity of certificates
  double behind = 6 * 3600.0;       // certificates begin to hold so long before they are made
};

// Why a machine whose clock is `ahead` seconds ahead of this machine's (negative: behind) can't take part, and what to do; empty: it can.
std::string clock_fault(const std::string& machine, double ahead, const ClockLimits& limits);

}  // namespace trireme::cluster
