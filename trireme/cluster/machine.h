// SPDX-License-Identifier: Apache-2.0
// A machine as a cluster description tells of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::cluster {

struct Machine {
  std::string name;     // what the user calls it; its address if it has no other
  std::string address;  // host name or IP, used exactly as given
  std::string user;     // empty: as ssh has it
  std::int64_t port = 22;
  std::int64_t slots = 1;  // nodes to run there
  std::int64_t cores = 0;  // 0: not told
  double memory_gb = 0;
  std::int64_t gpus = 0;
  bool energy_efficient = false;
  double watts = 0;
  double price = 0;  // an hour
  std::vector<std::string> labels;
};

struct Inventory {
  std::vector<Machine> machines;      // in the file's order
  std::vector<std::string> warnings;  // what was not as it should be and how it was taken
};

}  // namespace trireme::cluster
