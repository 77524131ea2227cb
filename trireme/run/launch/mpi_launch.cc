// SPDX-License-Identifier: Apache-2.0
// MPI's variables, the hand-over of the secret, and MPI's sure end.
#include "trireme/run/launch/mpi_launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>

#include "trireme/base/error.h"
#include "trireme/cluster/inventory/addresses.h"
#include "trireme/comm/mpi_library.h"
#include "trireme/engine/kernels/cpu.h"
#include "trireme/run/secrets/launch_secret.h"
#include "trireme/run/secrets/mpi_secret.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/train/job/job.h"

namespace trireme::run {
namespace {

// Of the first of `names` that is set.
std::int64_t number(const std::vector<const char*>& names, std::int64_t otherwise) {
  for (const char* name : names) {
    const std::string text = environment_variable(name);
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && fault == std::errc() && end == text.data() + text.size()) return value;
  }
  return otherwise;
}

// Cores are divided among the processes of a machine, unless mpirun has done so.
std::int64_t threads_of(const MpiLaunch& launch) {
  const std::int64_t usable = engine::usable_cores();
  if (!launch.is_bound) return std::max<std::int64_t>(1, usable / launch.local_size);
  return std::min(usable, std::max<std::int64_t>(1, ::sysconf(_SC_NPROCESSORS_ONLN) / launch.local_size));
}

// Where the other machines find the coordinator. Their names are known to mpirun only, so it is the interface that leads out of here.
std::string own_address(const MpiLaunch& launch) {
  constexpr const char* kElsewhere = "192.0.2.1";  // an address for documentation: no machine has it
  if (launch.local_size == launch.size) return "127.0.0.1";
  const std::string master = environment_variable("MASTER_ADDR");
  return cluster::address_towards(master.empty() ? kElsewhere : master);
}

// mpirun passes signals on to every process. The coordinator reacts, and has the others write a checkpoint; they must live for it.
void leave_signals_to_coordinator() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP}) std::signal(signal, SIG_IGN);
}

// Open MPI gives the core away at every look when there are more processes than cores; our waiting pauses by itself, and costs less.
std::shared_ptr<comm::MpiLibrary> start_mpi() {
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  return comm::MpiLibrary::start(comm::MpiLibrary::file_of(own_program()));
}

// A process that leaves without MPI_Finalize makes mpirun end all others: right after a failure.
int finish(comm::MpiLibrary& mpi, int code) {
  if (code == exit_ok) mpi.finish();
  return code;
}

}  // namespace

MpiLaunch mpi_launch() {
  return {.rank = number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0),
          .size = number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1),
          .local_size = std::max<std::int64_t>(1, number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}, 1)),
          .is_bound = number({"OMPI_MCA_orte_bound_at_launch"}, 0) != 0};
}

ClusterRequest mpi_cluster_request(const MpiLaunch& launch, const NodesRequest& nodes, const TrainingRequest& request) {
  ClusterRequest cluster{.launcher = "mpi", .plans = local_plans(1, 0), .start_timeout = nodes.start_timeout};
  cluster.min_nodes = static_cast<int>(launch.size);  // mpirun ends all processes when one is gone
  cluster.restarts = 0;
  cluster.options.binary = node_program(nodes);
  const std::filesystem::path library = comm::MpiLibrary::file_of(cluster.options.binary);
  if (!std::filesystem::exists(library))
    throw Error{failed_precondition,
                "{} is not there: this program has no part for MPI; install the package trireme-mpi, or libopenmpi-dev and build again",
                library.string()};
  const std::int64_t threads = train::job_from_config(request.config).train.threads;
  cluster.plans.front().threads = threads > 0 ? threads : threads_of(launch);
  cluster.plans.front().machine.slots = launch.local_size;
  for (std::int64_t rank = 1; rank < launch.size; ++rank) cluster.others.push_back(fmt::format("{}", rank));
  cluster.address = own_address(launch);
  const std::filesystem::path cache = cache_directory();
  if (cache.empty()) throw Error{failed_precondition, "there is no home directory for the job's secret; set XDG_CACHE_HOME"};
  cluster.secret_file = cache / fmt::format("mpi-{}.secret", ::getpid());
  cluster.options.secret_file = cluster.secret_file;
  make_secret_file(cluster.secret_file);
  cluster.secret = read_secret_file(cluster.secret_file);
  return cluster;
}

int run_first_mpi_node(const NodeSecrets& secrets, const std::filesystem::path& secret_file, NodeOptions options, const Console& console) {
  leave_signals_to_coordinator();
  const std::string secret = read_secret_file(secret_file);
  const MpiLaunch launch = mpi_launch();
  // On one machine nothing passes a network, and all have its disk. Munge's programs are started before MPI is there, which may not like
  // it.
  const auto others = static_cast<int>(launch.local_size == launch.size ? 0 : launch.size - 1);
  const SecretOffer offer = offer_secret(secrets.coordinator, secret, secret_file, others);
  options.mpi = start_mpi();
  hand_out_secret(*options.mpi, offer, secret, Seconds(options.start_timeout), [&](const std::string& line) {
    console.err << "trireme: warning: " << line << "\n" << std::flush;
  });
  return finish(*options.mpi, run_node(secrets, options, console));
}

int run_mpi_node(const MpiLaunch& launch, NodeOptions options, const Console& console) {
  leave_signals_to_coordinator();
  options.mpi = start_mpi();
  const SharedSecret shared = receive_secret(*options.mpi, Seconds(options.start_timeout));
  if (options.threads == 0) options.threads = threads_of(launch);
  NodeSecrets secrets = secrets_of_rank(launch.rank, shared.coordinator, shared.secret);
  secrets.slots = launch.local_size;
  return finish(*options.mpi, run_node(secrets, options, console));
}

}  // namespace trireme::run
