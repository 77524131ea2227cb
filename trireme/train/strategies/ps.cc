// SPDX-License-Identifier: Apache-2.0
// ps: servers hold the parameters; workers pull them, compute, and push gradients, each as fast as it can or within bounds.
#include "trireme/base/error.h"
#include "trireme/train/job/wire_choice.h"
#include "trireme/train/servers/parameter_servers.h"

namespace trireme::train {

void describe(ParameterServerOptions& o, OptionVisitor& visit) {
  visit("servers", o.servers, "nodes that hold parameters, the first ones; 0: as many as there can be", 0, 1 << 12);
  visit("placement", o.placement, "servers have machines of their own (dedicated), or compute as well (shared)", {"dedicated", "shared"});
  visit("mode", o.mode,
        "async: no worker waits; bsp: all wait for all; ssp: none gets further ahead than `staleness`; dssp: the same, with a bound that "
        "moves between staleness_min and staleness_max",
        {"async", "bsp", "ssp", "dssp"});
  visit("staleness", o.staleness, "ssp: pushes by which a worker may be ahead of the slowest; 0 is the same as bsp", 0, 1 << 20);
  visit("staleness_min", o.staleness_min, "dssp: bound up to which no worker ever waits", 0, 1 << 20);
  visit("staleness_max", o.staleness_max, "dssp: bound that no worker exceeds", 0, 1 << 20);
  visit("backup_workers", o.backup_workers, "bsp: an update does not wait for so many of the slowest workers, whose work is done again", 0,
        1 << 12);
  visit("min_shard_bytes", o.min_shard_bytes, "a tensor is not cut into smaller parts", 1, std::int64_t{1} << 40);
  visit("max_shards", o.max_shards, "into which a tensor is cut at most; 0: as many as there are servers", 0, 1 << 12);
  visit("divide_learning_rate", o.divide_learning_rate, "by the number of workers, where each push is an update of its own (all but bsp)");
  visit("damp_staleness", o.damp_staleness, "divide the learning rate of a push by 1 + the updates made since its parameters were pulled");
  visit("wire", o.wire, "numbers on the network; 16 bits halve the bytes and round gradients and pulled parameters",
        {"f32", "bf16", "f16"});
}

namespace strategies {
namespace {

std::int64_t capacity(const std::any& options, std::int64_t batch_size, int rank, int nodes) {
  const auto& o = std::any_cast<const ParameterServerOptions&>(options);
  const ServerRoles roles = plan_roles(placement_of(o), nodes);
  return roles.worker_of(rank) < 0 ? 0 : lease_size(o, batch_size, roles.workers.size());
}

std::string duties(const std::any& options, int nodes) {
  const auto& o = std::any_cast<const ParameterServerOptions&>(options);
  const ServerRoles roles = plan_roles(placement_of(o), nodes);
  const auto count = [](std::size_t number, std::string_view what) { return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s"); };
  if (placement_of(o).shared)
    return fmt::format("{}, {} beside them", count(roles.workers.size(), "worker"), count(roles.servers.size(), "server"));
  return fmt::format("{} and {}", count(roles.servers.size(), "server"), count(roles.workers.size(), "worker"));
}

StrategyFacts facts(const std::any& options, const ParameterSpace&) {
  const auto& o = std::any_cast<const ParameterServerOptions&>(options);
  return {.exchange = Exchange::servers,
          .is_joint = rules_of(o).sums(),
          .bytes_per_value = bytes_per_value(o.wire),
          .servers_compute = placement_of(o).shared};
}

void check(const std::any& options) {
  const auto& o = std::any_cast<const ParameterServerOptions&>(options);
  if (o.mode == "dssp" && o.staleness_max < o.staleness_min)
    throw Error{invalid_argument, "[strategy]: staleness_max = {} is below staleness_min = {}", o.staleness_max, o.staleness_min};
  if (o.backup_workers > 0 && !rules_of(o).sums())
    throw Error{invalid_argument, "[strategy]: backup_workers are for mode = \"bsp\"; in {} no worker waits for the slowest anyway",
                o.mode};
}

}  // namespace

StrategyEntry ps() {
  return {.name = "ps",
          .summary = "parameter servers: workers push gradients and pull parameters, each at its own pace or within bounds",
          .consistency = Consistency::eventual,
          .options = options_type<ParameterServerOptions>(),
          .in_step = false,
          .short_keys = {"mode", "staleness"},
          .short_defaults = {{"servers", "0"}, {"placement", "shared"}},
          .check = check,
          .facts = facts,
          .waits = [](const std::any& options) { return std::any_cast<const ParameterServerOptions&>(options).mode != "async"; },
          .make = [](const StrategyEntry::Setup& setup, const std::any& options) -> std::unique_ptr<Strategy> {
            return std::make_unique<ParameterServers>(setup, std::any_cast<const ParameterServerOptions&>(options));
          },
          .duties = duties,
          .capacity = capacity};
}

}  // namespace strategies
}  // namespace trireme::train
