// SPDX-License-Identifier: Apache-2.0
// Servers and workers among the nodes.
#include "trireme/train/servers/server_roles.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trireme::train {
namespace {

int place_of(const std::vector<int>& ranks, int rank) {
  const auto found = std::ranges::find(ranks, rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

// Nodes that are no servers; if none is left the servers have to.
std::vector<int> workers_beside(const std::vector<int>& servers, bool shared, int nodes) {
  std::vector<int> workers(static_cast<std::size_t>(nodes));
  std::iota(workers.begin(), workers.end(), 0);
  if (!shared && servers.size() < workers.size())
    std::erase_if(workers, [&](int rank) { return std::ranges::find(servers, rank) != servers.end(); });
  return workers;
}

// Ranks of all servers of the newest lineage, or nothing if one is missing.
std::vector<int> holders(const std::vector<Holding>& holdings) {
  const auto newest = std::ranges::max_element(holdings, {}, &Holding::lineage);
  if (newest->lineage == 0) return {};
  std::vector<int> ranks(static_cast<std::size_t>(newest->servers), -1);
  for (std::size_t rank = 0; rank < holdings.size(); ++rank) {
    const Holding& holding = holdings[rank];
    if (holding.lineage == newest->lineage && holding.server >= 0 && holding.server < newest->servers)
      ranks[static_cast<std::size_t>(holding.server)] = static_cast<int>(rank);
  }
  return place_of(ranks, -1) < 0 ? ranks : std::vector<int>{};
}

}  // namespace

int ServerRoles::server_of(int rank) const { return place_of(servers, rank); }
int ServerRoles::worker_of(int rank) const { return place_of(workers, rank); }

ServerRoles plan_roles(const ServerPlacement& placement, int nodes) {
  const int most = placement.shared ? nodes : std::max(1, nodes - 1);
  const int count = placement.servers == 0 ? most : static_cast<int>(std::min<std::int64_t>(placement.servers, most));
  ServerRoles roles;
  roles.servers.resize(static_cast<std::size_t>(count));
  std::iota(roles.servers.begin(), roles.servers.end(), 0);
  roles.workers = workers_beside(roles.servers, placement.shared, nodes);
  return roles;
}

std::uint64_t newest_seen(const std::vector<Holding>& holdings) { return std::ranges::max(holdings, {}, &Holding::seen).seen; }

ServerRoles choose_roles(const ServerPlacement& placement, std::vector<Holding> holdings) {
  const int nodes = static_cast<int>(holdings.size());
  const std::uint64_t newest = newest_seen(holdings);
  for (Holding& holding : holdings)
    if (holding.seen < newest) holding = {};
  std::vector<int> servers = holders(holdings);
  if (servers.empty()) return plan_roles(placement, nodes);
  std::vector<int> workers = workers_beside(servers, placement.shared, nodes);
  const std::uint64_t lineage = std::ranges::max(holdings, {}, &Holding::lineage).lineage;
  return {.servers = std::move(servers), .workers = std::move(workers), .resumes = true, .lineage = lineage};
}

std::vector<Holding> gather_holdings(Team& team, const Holding& own) {
  const std::vector<double> lineages = team.gather(static_cast<double>(own.lineage));
  const std::vector<double> numbers = team.gather(own.server);
  const std::vector<double> counts = team.gather(own.servers);
  const std::vector<double> seen = team.gather(static_cast<double>(own.seen));
  std::vector<Holding> out;
  for (std::size_t i = 0; i < lineages.size(); ++i)
    out.push_back({.lineage = static_cast<std::uint64_t>(lineages[i]),
                   .server = static_cast<int>(std::lround(numbers[i])),
                   .servers = static_cast<int>(std::lround(counts[i])),
                   .seen = static_cast<std::uint64_t>(seen[i])});
  return out;
}

}  // namespace trireme::train
