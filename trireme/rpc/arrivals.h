// SPDX-License-Identifier: Apache-2.0
// Who has connected and not yet shown that they are of this job, and how many may come from one place.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unordered_set>

#include "trireme/base/clock.h"
#include "trireme/base/line_limiter.h"

namespace trireme::rpc {

// gRPC does not report handshakes that fail. But every node makes a call as soon as it is connected: a connection that has made
// none when the time for a handshake is over was a stranger's. All calls may come from any thread.
class Arrivals {
 public:
  struct Limits {
    Seconds patience{6};       // a little more than a handshake may take
    double each_second = 100;  // from one host; a connection costs this machine some 0.3 ms and 64 KB
    double at_once = 256;
  };

  Arrivals(LineLimiter::Write report_stranger, const Clock& clock, const Limits& limits)
      : limits_(limits), clock_(clock), lines_(std::move(report_stranger), clock) {}

  // Whether the connection may go on. A host that is over its limit is no reason to refuse others.
  bool admit(const std::string& host, const std::string& port);
  // `peer` as gRPC writes it: "ipv4:10.0.0.1:4711", "ipv6:%5Bfd00::2%5D:4711".
  void proven(const std::string& peer);
  // Reports those whose time is over.
  void look();

 private:
  struct Arrival {
    std::string peer;
    Seconds time;
  };
  struct Allowance {
    double left;
    Seconds filled;
  };

  bool take_allowance(const std::string& host);
  void forget_idle_hosts();

  const Limits limits_;
  const Clock& clock_;
  std::mutex mutex_;
  std::deque<Arrival> arrivals_;  // the oldest first
  std::unordered_set<std::string> unproven_;
  std::map<std::string, Allowance> hosts_;
  LineLimiter lines_;
};

}  // namespace trireme::rpc
