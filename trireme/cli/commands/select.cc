// SPDX-License-Identifier: Apache-2.0
// select: the machines of a cluster that a selection leaves, as addresses of workers.
#include <memory>

#include "trireme/base/json.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/cluster/inventory/tf_config.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  SelectionFlags machines;
  std::int64_t port = 2223;
  bool json = false;
};

Json to_json(const cluster::Machine& machine) {
  return {{"name", machine.name},           {"address", machine.address}, {"user", machine.user},
          {"port", machine.port},           {"slots", machine.slots},     {"cores", machine.cores},
          {"memory_gb", machine.memory_gb}, {"gpus", machine.gpus},       {"energy_efficient", machine.energy_efficient},
          {"watts", machine.watts},         {"price", machine.price},     {"labels", machine.labels}};
}

int run(const Options& o, const run::Console& console) {
  const cluster::Inventory inventory = selected_inventory(o.machines, console);
  const std::vector<std::string> workers = cluster::worker_addresses(inventory.machines, o.port);
  if (!o.json) {
    for (const std::string& worker : workers) console.out << worker << "\n";
    return 0;
  }
  Json machines = Json::array();
  for (const cluster::Machine& machine : inventory.machines) machines.push_back(to_json(machine));
  const Json document = {{"selection", name_of(o.machines.selection())},
                         {"workers", workers},
                         {"machines", std::move(machines)},
                         {"warnings", inventory.warnings}};
  console.out << document.dump(2) << "\n";
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  add_selection_flags(arguments, options->machines, ClusterArgument::positional);
  arguments.option("--port", options->port, "of the workers").shows_default().shown_as("N").between(1, 65535);
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry select() {
  return {.name = "select", .summary = "show which machines of a cluster file a selection takes", .declare = declare};
}

}  // namespace trireme::cli::commands
