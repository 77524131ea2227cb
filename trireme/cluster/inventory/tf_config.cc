// SPDX-License-Identifier: Apache-2.0
// Writes TF_CONFIG, one text per worker.
#include "trireme/cluster/inventory/tf_config.h"

#include "trireme/base/error.h"
#include "trireme/base/host.h"
#include "trireme/base/json.h"

namespace trireme::cluster {

std::vector<std::string> worker_addresses(const std::vector<Machine>& machines, std::int64_t port) {
  constexpr std::int64_t kMaxPort = 65535;
  std::vector<std::string> workers;
  for (const Machine& machine : machines) {
    if (port + machine.slots - 1 > kMaxPort)
      throw Error{invalid_argument, "machine {} has {} slots: ports from {} on are not enough for them; choose a lower --port",
                  machine.name, machine.slots, port};
    for (std::int64_t slot = 0; slot < machine.slots; ++slot) workers.push_back(join_host_port(machine.address, port + slot));
  }
  return workers;
}

std::vector<std::string> tf_configs(const std::vector<Machine>& machines, std::int64_t port) {
  const std::vector<std::string> workers = worker_addresses(machines, port);
  std::vector<std::string> configs;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const Json config = {{"cluster", {{"worker", workers}}}, {"task", {{"index", i}, {"type", "worker"}}}};
    configs.push_back(config.dump());
  }
  return configs;
}

}  // namespace trireme::cluster
