// SPDX-License-Identifier: Apache-2.0
// A machine as a cluster description has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"

namespace trireme::cluster {

struct Machine {
  std::string name;     // what the user calls it; its address if it has no other
  std::string address;  // host name or IP, used exactly as given; IPv6 without brackets
  std::string user;     // empty: as ssh has it
  std::int64_t port = 22;
  std::int64_t slots = 1;  // nodes to run there
  std::int64_t cores = 0;  // 0: not given
  double memory_gb = 0;
  std::int64_t gpus = 0;
  bool energy_efficient = false;
  double watts = 0;
  double price = 0;  // an hour
  std::vector<std::string> labels;
};

void describe(Machine& machine, OptionVisitor& visit);

// How machines are logged in to; empty: as ssh's own configuration has it.
struct SshSettings {
  std::string identity_file;
  std::string known_hosts_file;
  bool accept_new = false;  // host keys never seen before; a changed one is always refused
};

void describe(SshSettings& settings, OptionVisitor& visit);

struct Inventory {
  std::string origin;                 // the file or flag it was read from
  std::vector<Machine> machines;      // in the file's order
  std::vector<std::string> warnings;  // what was not as it should be and how it was taken
  SshSettings ssh;
};

// Whatever comes from a description may end in a command line, so only harmless characters are let through: each
// throws invalid_argument, beginning with `origin`, at a leading dash, space, quote or anything a shell would read.
void check_address(std::string_view address, std::string_view origin);
void check_name(std::string_view name, std::string_view what, std::string_view origin);  // users, names, labels
void check_path(std::string_view path, std::string_view what, std::string_view origin);

bool is_ipv6(std::string_view address);

// Fills in names, then checks everything that a description must keep to; `origins` has the place of each machine.
void finish_inventory(Inventory& inventory, const std::vector<std::string>& origins);

}  // namespace trireme::cluster
