// SPDX-License-Identifier: Apache-2.0
// What the runs used of their machines, each over its own window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/report/compare/tables.h"
#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

using Document = const RunDocument&;

struct Resource {
  const char* name;
  const char* title;
  double unit;
  int digits;
};
constexpr std::array<Resource, 7> kResources{{{"cpu", "CPU (%)", 0.01, 1},
                                              {"memory", "memory (GB)", 1e9, 2},
                                              {"network_in", "network in (MB/s)", 1e6, 2},
                                              {"network_out", "network out (MB/s)", 1e6, 2},
                                              {"loopback", "loopback (MB/s)", 1e6, 2},
                                              {"load", "load", 1, 2},
                                              {"power", "power (W)", 1, 1}}};

constexpr const char* kWindow =
    "Over each run's own window, from the beginning of its first step to the end of its last one. CPU is user and system time of all cores "
    "of "
    "all machines, memory, network and load are sums over the machines; 1 GB is 10^9 bytes. Loopback is traffic within a machine, counted "
    "once.";

bool is_known(const std::vector<Group>& groups, const char* name) {
  return std::ranges::any_of(groups, [&](const Group& g) { return std::isfinite(mean_of(g.first().cluster.summary, name)); });
}

std::string window_note(const std::vector<Group>& groups) {
  return std::string(kWindow) + (groups.front().first().is_above_baseline ? " What the idle machines used before is subtracted." : "");
}

std::string extent_text(const Group& group, const Resource& resource) {
  const auto part = [&](double Extent::*field) {
    return spread_of(group,
                     [&](Document d) {
                       const Extent* extent = find(d.cluster.summary, resource.name);
                       return extent == nullptr ? kUnknown : extent->*field / resource.unit;
                     })
        .mean;
  };
  return fmt::format("{} / {} / {}", fixed(part(&Extent::min), resource.digits), fixed(part(&Extent::mean), resource.digits),
                     fixed(part(&Extent::max), resource.digits));
}

double mean(const MachineFacts& machine, const char* name) { return mean_of(machine.summary, name); }
double most(const MachineFacts& machine, const char* name) {
  const Extent* extent = find(machine.summary, name);
  return extent == nullptr ? kUnknown : extent->max;
}

std::vector<std::string> machine_row(const std::string& label, const std::string& host, const MachineFacts& machine) {
  return {label,
          host,
          plain(machine.cores),
          fixed(100 * mean(machine, "cpu_user"), 1),
          fixed(100 * mean(machine, "cpu_system"), 1),
          fixed(100 * mean(machine, "cpu_wait"), 1),
          fixed(mean(machine, "memory") / 1e9, 2),
          fixed(most(machine, "memory") / 1e9, 2),
          fixed(mean(machine, "network_in") / 1e6, 2),
          fixed(mean(machine, "network_out") / 1e6, 2)};
}

}  // namespace

void add_mean_resources(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "Mean use of the cluster", .columns = {"resource"}, .note = window_note(groups)};
  for (const Group& group : groups) table.columns.push_back(group.label);
  for (const Resource& resource : kResources) {
    if (!is_known(groups, resource.name)) continue;
    std::vector<std::string> row{resource.title};
    for (const Group& group : groups)
      row.push_back(with_spread(spread_of(group, [&](Document d) { return mean_of(d.cluster.summary, resource.name) / resource.unit; }),
                                [&](double v) { return fixed(v, resource.digits); }));
    table.rows.push_back(std::move(row));
  }
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

void add_resource_extents(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "Use of the cluster: min / mean / max", .columns = {"run"}, .note = window_note(groups)};
  for (const Resource& resource : kResources)
    if (is_known(groups, resource.name)) table.columns.emplace_back(resource.title);
  if (table.columns.size() < 2) return;
  for (const Group& group : groups) {
    std::vector<std::string> row{group.label};
    for (const Resource& resource : kResources)
      if (is_known(groups, resource.name)) row.push_back(extent_text(group, resource));
    table.rows.push_back(std::move(row));
  }
  tables.push_back(std::move(table));
}

void add_machines(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "Machine by machine",
              .columns = {"run", "machine", "cores", "CPU user (%)", "CPU system (%)", "CPU wait (%)", "memory, mean (GB)",
                          "memory, most (GB)", "network in (MB/s)", "network out (MB/s)"},
              .note = "Means over the window of each label's first run."};
  for (const Group& group : groups) {
    const RunDocument& d = group.first();
    if (d.machines.empty()) continue;
    if (d.machines.size() > 1) table.rows.push_back(machine_row(group.label, "all", d.cluster));
    for (const MachineFacts& machine : d.machines) table.rows.push_back(machine_row(group.label, machine.host, machine));
  }
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

void add_traffic(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "Traffic of a step, measured and as it must be",
              .columns = {"run", "measured", "model", "measured / model", "formula"},
              .note = "Payload that all nodes together sent to one another in a step (out of step: in a push)."};
  for (const Group& group : groups) {
    const auto& traffic = group.first().traffic;
    if (traffic)
      table.rows.push_back({group.label, bytes(traffic->measured_bytes_per_step), bytes(traffic->model_bytes_per_step),
                            fixed(traffic->ratio, 3), traffic->model});
  }
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

}  // namespace trireme::report
