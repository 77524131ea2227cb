// SPDX-License-Identifier: Apache-2.0
// Examines a cluster before it is used: logins, machines, clocks, and the network between every two machines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trireme/cluster/doctor/link_probe.h"
#include "trireme/cluster/doctor/machine_facts.h"
#include "trireme/cluster/launch/launcher_entry.h"
#include "trireme/cluster/launch/shipping.h"

namespace trireme::cluster {

struct MachineCheck {
  Machine machine;
  std::string error;  // why it can't be used, in words; empty: it can
  std::vector<std::string> warnings;
  std::optional<MachineFacts> facts;
  double clock_ahead = 0;        // seconds before this machine's clock
  double clock_uncertainty = 0;  // half of the question's way there and back
};

// A place in MachineCheck's list, or this machine, from which the doctor was called and where a coordinator would be.
inline constexpr std::size_t kHere = static_cast<std::size_t>(-1);

struct LinkCheck {
  std::size_t from = 0;
  std::size_t to = 0;
  std::string from_address;
  std::string to_address;
  LinkResult result;
};

struct Examination {
  std::vector<MachineCheck> machines;
  std::vector<LinkCheck> links;  // every ordered pair of machines that can be used, and from each to here
};

// Ships the program where it is not there yet. Everything has a time limit; machines are looked at all at once, and
// links in rounds in which each machine sends to one and receives from one.
Examination examine(const std::vector<Machine>& machines, const LaunchOptions& options, const OnShippingEvent& on_event = {});

struct Findings {
  std::vector<std::string> problems;  // what keeps a job from running, and how to mend it
  std::vector<std::string> notes;     // what makes it slower than it could be
};

Findings judge(const Examination& examination);

std::string name_of_place(const Examination& examination, std::size_t place);

}  // namespace trireme::cluster
