// SPDX-License-Identifier: Apache-2.0
// TensorFlow's description of a cluster, for those who still need it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/cluster/inventory/machine.h"

namespace trireme::cluster {

// "address:port" of each worker: a machine with several slots has one a slot, on ports counted up from `port`.
std::vector<std::string> worker_addresses(const std::vector<Machine>& machines, std::int64_t port);

// The value of TF_CONFIG for each worker: the cluster is the same, the task's index differs; worker 0 is the chief.
std::vector<std::string> tf_configs(const std::vector<Machine>& machines, std::int64_t port);

}  // namespace trireme::cluster
