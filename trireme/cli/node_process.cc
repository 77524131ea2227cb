// SPDX-License-Identifier: Apache-2.0
// A node's membership and its worker.
#include "trireme/cli/node_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "trireme/base/error.h"
#include "trireme/cli/algorithm_memory.h"
#include "trireme/cli/application.h"
#include "trireme/cli/cache_directory.h"
#include "trireme/cluster/addresses.h"
#include "trireme/coord/membership.h"
#include "trireme/engine/cpu.h"
#include "trireme/train/worker.h"

namespace trireme::cli {
namespace {

std::int64_t threads_of(const NodeSecrets& secrets, const NodeOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max<std::int64_t>(1, engine::usable_cores() / std::max<std::int64_t>(secrets.slots, 1));
}

}  // namespace

int run_node(const NodeSecrets& secrets, const NodeOptions& options, const Console& console) {
  const std::string address = cluster::address_towards(cluster::without_port(secrets.coordinator));
  // Whatever it is doing, a node whose job is gone must not go on: all that matters is with the coordinator.
  std::atomic<bool> leaving{false};
  const auto ended = [&](const Error& error) {
    if (leaving || error.code() == cancelled) return;
    console.err << fmt::format("trireme: error: {}\n", error.what()) << std::flush;
    ::_exit(1);
  };
  auto membership = coord::Membership::connect(
      {.coordinator = secrets.coordinator,
       .credentials = secrets.credentials,
       .version = TRIREME_VERSION,
       .info = {.host = secrets.host, .address = address, .cores = engine::usable_cores(), .process = ::getpid()},
       .ended = ended},
      Seconds(options.start_timeout));
  const SteadyClock clock;
  const train::WorkerOptions worker{.threads = threads_of(secrets, options),
                                    .address = address,
                                    .key = secrets.key,
                                    .version = TRIREME_VERSION,
                                    .job_hash = options.job_hash,
                                    .mpi = options.mpi,
                                    .algorithm_cache = algorithm_cache(),
                                    .scratch = cache_directory(),
                                    .start_timeout = Seconds(options.start_timeout),
                                    .say = [&](const std::string& line) { console.err << line << "\n"
                                                                                      << std::flush; }};
  const bool well = train::run_worker(membership, worker, clock);
  leaving = true;
  return well ? exit_ok : exit_failed;
}

}  // namespace trireme::cli
