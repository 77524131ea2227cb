// SPDX-License-Identifier: Apache-2.0
// Reads the machines that flags name.
#include "trireme/cli/selection_flags.h"

#include "trireme/base/error.h"
#include "trireme/cluster/inventory/inventory.h"

namespace trireme::cli {
namespace {

cluster::Inventory named_inventory(const SelectionFlags& flags) {
  const int sources = (flags.cluster.empty() ? 0 : 1) + (flags.hostfile.empty() ? 0 : 1) + (flags.hosts.empty() ? 0 : 1);
  if (sources == 0) throw Error{invalid_argument, "no machines are named; give a cluster file, --hostfile FILE or -H HOST:SLOTS,..."};
  if (sources > 1) throw Error{invalid_argument, "machines are named twice; give one of a cluster file, --hostfile and -H"};
  if (!flags.cluster.empty()) return cluster::read_inventory(flags.cluster);
  if (!flags.hostfile.empty()) return cluster::read_hostfile(flags.hostfile);
  return cluster::parse_host_list(flags.hosts);
}

}  // namespace

cluster::Selection SelectionFlags::selection() const {
  if (cpus) return cluster::Selection::cpus;
  if (gpus) return cluster::Selection::gpus;
  if (energy) return cluster::Selection::energy;
  return cluster::Selection::all;
}

void add_selection_flags(Arguments& arguments, SelectionFlags& flags, ClusterArgument argument) {
  arguments
      .option(argument == ClusterArgument::flag ? "--cluster" : "cluster", flags.cluster,
              "the machines: cluster.toml, a JSON blueprint or a hostfile")
      .shown_as("FILE");
  arguments.option("--hostfile", flags.hostfile, "the machines, a line each: HOST slots=N").shown_as("FILE");
  arguments.option("-H,--hosts", flags.hosts, "the machines, on the command line").shown_as("HOST:SLOTS,...");
  arguments.flag("--all", flags.all, "all machines (the default)");
  arguments.flag("--cpus,--cpu", flags.cpus, "only machines without GPUs");
  arguments.flag("--gpus,--gpu", flags.gpus, "only machines with GPUs");
  arguments.flag("--energy", flags.energy, "only machines marked as energy-efficient");
}

cluster::Inventory selected_inventory(const SelectionFlags& flags, const run::Console& console) {
  cluster::Inventory inventory = named_inventory(flags);
  for (const std::string& warning : inventory.warnings) console.err << "trireme: warning: " << warning << "\n";
  const cluster::Selection selection = flags.selection();
  if (int{flags.all} + int{flags.cpus} + int{flags.gpus} + int{flags.energy} > 1)
    console.err << "trireme: warning: of several selections --" << name_of(selection) << " is taken\n";
  inventory.machines = select(inventory, selection);
  return inventory;
}

}  // namespace trireme::cli
