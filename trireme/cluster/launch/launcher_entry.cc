// SPDX-License-Identifier: Apache-2.0
// What all launchers have in common.
#include "trireme/cluster/launch/launcher_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "trireme/base/catalog_lookup.h"

namespace trireme::cluster {

std::vector<NodePlan> plan_nodes(const std::vector<Machine>& machines, std::int64_t threads) {
  std::vector<NodePlan> plans;
  for (const Machine& machine : machines) {
    const std::int64_t cores = threads > 0 ? threads : machine.cores;
    for (std::int64_t slot = 0; slot < machine.slots; ++slot)
      plans.push_back({.name = fmt::format("{}", plans.size()),
                       .machine = machine,
                       .slot = slot,
                       .threads = cores > 0 ? std::max<std::int64_t>(1, cores / machine.slots) : 0});
  }
  return plans;
}

std::vector<Machine> machines_of(const std::vector<NodePlan>& plans) {
  std::vector<Machine> machines;
  for (const NodePlan& plan : plans)
    if (plan.slot == 0) machines.push_back(plan.machine);
  return machines;
}

std::string as_typed(const std::vector<std::string>& command) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/=:,@%+";
  std::string text;
  for (const std::string& word : command) {
    text += text.empty() ? "" : " ";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
  return text;
}

const LauncherEntry& find_launcher(std::string_view name) { return find_entry(launchers::catalog(), name, "launcher"); }

std::int64_t whole_number(const Environment& environment, const char* name) {
  const std::string text = environment(name);
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size() ? value : 0;
}

std::vector<std::string> node_command(const NodePlan& plan, const LaunchOptions& options) {
  std::vector<std::string> words{options.binary.string()};
  for (std::string& word : node_arguments(plan)) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> node_arguments(const NodePlan& plan) {
  std::vector<std::string> words{"node", "--threads", fmt::format("{}", plan.threads)};
  if (plan.keep > 0) words.insert(words.end(), {"--keep", fmt::format("{:g}", plan.keep)});
  if (!plan.events.empty()) words.insert(words.end(), {"--events", plan.events.string()});
  return words;
}

}  // namespace trireme::cluster
