// SPDX-License-Identifier: Apache-2.0
// What a job's words mean for servers and leases.
#include "trireme/train/job/parameter_server_options.h"

#include <algorithm>

#include "trireme/train/job/wire_choice.h"

namespace trireme::train {
namespace {

ps::Mode mode_of(const std::string& name) {
  if (name == "bsp") return ps::Mode::bsp;
  if (name == "ssp") return ps::Mode::ssp;
  return name == "dssp" ? ps::Mode::dssp : ps::Mode::async;
}

}  // namespace

ps::Rules rules_of(const ParameterServerOptions& options) {
  return {.mode = mode_of(options.mode),
          .staleness = options.staleness,
          .staleness_min = options.staleness_min,
          .staleness_max = options.staleness_max,
          .backup_workers = options.backup_workers,
          .damped = options.damp_staleness,
          .wire = wire_type(options.wire)};
}

ServerPlacement placement_of(const ParameterServerOptions& options) {
  return {.servers = options.servers, .shared = options.placement == "shared"};
}

std::int64_t parts_of_a_batch(const ParameterServerOptions& options, std::size_t workers) {
  const auto all = static_cast<std::int64_t>(workers);
  return rules_of(options).sums() ? std::max<std::int64_t>(1, all - options.backup_workers) : all;
}

std::int64_t lease_size(const ParameterServerOptions& options, std::int64_t batch_size, std::size_t workers) {
  const std::int64_t parts = parts_of_a_batch(options, workers);
  return (batch_size + parts - 1) / parts;
}

}  // namespace trireme::train
