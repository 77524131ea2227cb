// SPDX-License-Identifier: Apache-2.0
// Which machines of an inventory take part.
#pragma once

#include <string_view>
#include <vector>

#include "trireme/cluster/inventory/machine.h"

namespace trireme::cluster {

enum class Selection {
  all,
  cpus,    // machines without GPUs
  gpus,    // machines with GPUs
  energy,  // energy-efficient machines, with GPUs or not
};

std::string_view name_of(Selection selection);

// In the inventory's order. None is failed_precondition, saying what the machines have.
std::vector<Machine> select(const Inventory& inventory, Selection selection);

}  // namespace trireme::cluster
