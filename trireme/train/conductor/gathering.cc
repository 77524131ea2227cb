// SPDX-License-Identifier: Apache-2.0
// How many nodes are enough, and which ones may still join.
#include "trireme/train/conductor/gathering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace trireme::train {
namespace {

std::size_t wanted(const JobOptions& options) {
  const std::size_t all = options.nodes.size();
  return options.max_nodes > 0 ? std::min(all, static_cast<std::size_t>(options.max_nodes)) : all;
}

bool is_ready(const NodeTable& nodes, const std::string& node) { return nodes.find(node)->presence == Node::Presence::ready; }

bool may_still_join(const JobOptions& options, const NodeTable& nodes, const std::string& node, Seconds waited) {
  const bool returns = options.takes_over && !options.startable.contains(node);
  return !is_ready(nodes, node) && !nodes.is_left_out(node) && waited < (returns ? kReturn : options.start_timeout);
}

}  // namespace

Gathered check_gathered(const JobOptions& options, const NodeTable& nodes, std::size_t ready, Seconds waited) {
  if (ready >= wanted(options)) return Gathered::enough;
  const auto may_join = [&](const std::string& node) { return may_still_join(options, nodes, node, waited); };
  if (std::ranges::any_of(nodes.names(), may_join)) return Gathered::waiting;
  const auto enough = static_cast<std::size_t>(options.takes_over ? options.min_nodes : options.start_nodes);
  return enough > 0 && ready >= enough ? Gathered::enough : Gathered::too_few;
}

std::string missing_text(const NodeTable& nodes, Seconds waited) {
  std::vector<std::string> missing;
  for (const std::string& name : nodes.names()) {
    if (is_ready(nodes, name)) continue;
    const Node& node = *nodes.find(name);
    if (!node.last_error.empty())
      missing.push_back(fmt::format("node {} {}", name, node.last_error));
    else
      missing.push_back(node.info ? fmt::format("node {} on {} is still preparing", name, node.host())
                                  : fmt::format("node {} never joined", name));
  }
  return fmt::format(
      "after {:.0f} s not every node is ready: {}; look at their output above, raise --start-timeout, or accept fewer with --min-nodes",
      waited.count(), fmt::join(missing, ", "));
}

}  // namespace trireme::train
