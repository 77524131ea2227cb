// SPDX-License-Identifier: Apache-2.0
// The flags by which commands get machines and which of them take part.
#pragma once

#include <string>

#include "trireme/cli/command_entry.h"
#include "trireme/cluster/inventory/selection.h"

namespace trireme::cli {

struct SelectionFlags {
  std::string cluster;   // --cluster FILE, or a command's first argument
  std::string hostfile;  // --hostfile FILE
  std::string hosts;     // -H a:2,b:4
  bool all = false;
  bool cpus = false;
  bool gpus = false;
  bool energy = false;

  bool names_machines() const { return !cluster.empty() || !hostfile.empty() || !hosts.empty(); }
  // If several are given, cpus wins over gpus over energy over all.
  cluster::Selection selection() const;
};

enum class ClusterArgument { flag, positional };

// --cluster FILE or an argument, --hostfile, -H, --all, --cpus, --gpus, --energy.
void add_selection_flags(Arguments& arguments, SelectionFlags& flags, ClusterArgument argument);

// The inventory that the flags name, reduced to the machines they select. Its warnings are printed on the console.
cluster::Inventory selected_inventory(const SelectionFlags& flags, const run::Console& console);

}  // namespace trireme::cli
