// SPDX-License-Identifier: Apache-2.0
// Filters machines by GPUs and the mark for energy, and says why none is left.
#include "trireme/cluster/inventory/selection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

bool is_selected(const Machine& machine, Selection selection) {
  switch (selection) {
    case Selection::all:
      return true;
    case Selection::cpus:
      return machine.gpus == 0;
    case Selection::gpus:
      return machine.gpus != 0;
    case Selection::energy:
      return machine.energy_efficient;
  }
  return false;
}

std::string_view wanted(Selection selection) {
  switch (selection) {
    case Selection::cpus:
      return "without a GPU";
    case Selection::gpus:
      return "with a GPU";
    case Selection::energy:
      return "marked as energy-efficient";
    case Selection::all:
      break;
  }
  return "at all";
}

std::string properties(const Machine& machine) {
  return fmt::format("{} ({} GPU{}{})", machine.name, machine.gpus, machine.gpus == 1 ? "" : "s",
                     machine.energy_efficient ? ", energy-efficient" : "");
}

[[noreturn]] void refuse_empty(const Inventory& inventory, Selection selection) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> rows;
  for (const Machine& machine : inventory.machines) {
    if (rows.size() == kShown) {
      rows.push_back(fmt::format("and {} more", inventory.machines.size() - kShown));
      break;
    }
    rows.push_back(properties(machine));
  }
  throw Error{failed_precondition, "--{}: {} has no machine {}; it has {}. Choose another selection, e.g. --all",
              name_of(selection),  inventory.origin,
              wanted(selection),   fmt::join(rows, ", ")};
}

}  // namespace

std::string_view name_of(Selection selection) {
  constexpr std::string_view kNames[] = {"all", "cpus", "gpus", "energy"};
  return kNames[static_cast<std::size_t>(selection)];
}

std::vector<Machine> select(const Inventory& inventory, Selection selection) {
  std::vector<Machine> selected;
  std::copy_if(inventory.machines.begin(), inventory.machines.end(), std::back_inserter(selected),
               [&](const Machine& machine) { return is_selected(machine, selection); });
  if (selected.empty()) refuse_empty(inventory, selection);
  return selected;
}

}  // namespace trireme::cluster
