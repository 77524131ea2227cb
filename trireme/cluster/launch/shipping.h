// SPDX-License-Identifier: Apache-2.0
// Brings this program, and the shared libraries a machine lacks, to other machines: once for each version of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster {

struct ShippingReport {
  std::string machine;
  std::string error;  // in words, beginning with the machine's name; empty: the program runs there
  std::vector<std::string> warnings;
  std::vector<std::string> shipped;  // files that were not there yet
  std::int64_t shipped_bytes = 0;
  bool has_shipped_libraries = false;  // now or earlier; goes into NodePlan
  double seconds = 0;
};

// "h1: ships trireme (31.1 MiB)", reported from any thread, one at a time.
using OnShippingEvent = std::function<void(std::string_view event)>;

// To all machines at the same time. The program goes to ~/.cache/trireme/bin/<its SHA-256>/ under a temporary name, is
// checked there, renamed, and run once to see that it works. Reports are in the order of `machines`.
std::vector<ShippingReport> ship(const std::vector<Machine>& machines, const LaunchOptions& options, const OnShippingEvent& on_event = {});

// Throws failed_precondition that names every machine that is not ready.
void require_ready(const std::vector<ShippingReport>& reports);

}  // namespace trireme::cluster
