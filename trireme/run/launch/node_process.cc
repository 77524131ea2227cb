// SPDX-License-Identifier: Apache-2.0
// A node's membership and its worker.
#include "trireme/run/launch/node_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/version.h"
#include "trireme/cluster/inventory/addresses.h"
#include "trireme/coord/membership.h"
#include "trireme/engine/kernels/cpu.h"
#include "trireme/run/setup/algorithm_memory.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/train/node/worker.h"

namespace trireme::run {
namespace {

std::int64_t threads_of(const NodeSecrets& secrets, const NodeOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max<std::int64_t>(1, engine::usable_cores() / std::max<std::int64_t>(secrets.slots, 1));
}

// Is this node with a coordinator? Set by the threads of the membership and the worker, read by the one that watches the launcher.
class Contact {
 public:
  void lost() { is_there_ = false; }
  void found() { is_there_ = true; }
  bool is_there() const { return is_there_; }

 private:
  std::atomic<bool> is_there_{true};
};

// The launcher holds our standard input open for as long as it lives, whatever may kill it. If only it is gone, or the connection to
// it, no process could end this node any more: it leaves. If the coordinator is gone with it, another may take over.
void watch_launcher(std::shared_ptr<Contact> contact, double keep) {
  std::thread([contact = std::move(contact), keep] {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    constexpr double kGrace = 3;  // for the membership to break, too
    constexpr double kLook = 0.2;
    double waited = 0;
    const auto waits = [&](double limit) {
      waited += kLook;
      std::this_thread::sleep_for(Seconds(kLook));
      return waited < limit;
    };
    while (keep > 0 && contact->is_there() && waits(kGrace)) {
    }
    if (keep > 0 && !contact->is_there())
      while (waits(keep + 2 * kGrace))
        if (contact->is_there()) return;  // another coordinator took over, and will dismiss this node
    ::_exit(143);
  }).detach();
}

}  // namespace

int run_node(const NodeSecrets& secrets, const NodeOptions& options, const Console& console) {
  const std::string address = cluster::address_towards(cluster::without_port(secrets.coordinator));
  const Interrupts interrupts;
  std::signal(SIGPIPE, SIG_IGN);  // no process may be left to read what this node writes
  const auto contact = std::make_shared<Contact>();
  if (options.has_launcher) watch_launcher(contact, options.keep);
  const auto say = [&](const std::string& line) { console.err << line << "\n" << std::flush; };
  auto membership = coord::Membership::connect(
      {.coordinator = secrets.coordinator,
       .credentials = secrets.credentials,
       .version = std::string(version()),
       .info = {.host = secrets.host, .address = address, .cores = engine::usable_cores(), .process = ::getpid()},
       .ended =
           [contact, keep = options.keep, &console](const Error& error) {
             if (error.code() == unavailable || error.code() == aborted) contact->lost();
             if (keep > 0 || error.code() == cancelled) return;
             // Whatever it is doing, a node whose job is gone must not go on: all that matters is with the coordinator.
             console.err << fmt::format("trireme: error: {}\n", error.what()) << std::flush;
             ::_exit(1);
           }},
      Seconds(options.start_timeout));
  const SteadyClock clock;
  const train::WorkerOptions worker{.threads = threads_of(secrets, options),
                                    .nodes_on_machine = secrets.slots,
                                    .address = address,
                                    .key = secrets.key,
                                    .version = std::string(version()),
                                    .job_hash = options.job_hash,
                                    .mpi = options.mpi,
                                    .algorithm_cache = algorithm_cache(),
                                    .scratch = cache_directory(),
                                    .start_timeout = Seconds(options.start_timeout),
                                    .keep = Seconds(options.keep),
                                    .events = options.events,
                                    .signal = &interrupts.signal(),
                                    .say = say,
                                    .rejoined = [contact] { contact->found(); }};
  const bool well = train::run_worker(membership, worker, clock);
  const int signal = interrupts.signal();
  return signal != 0 ? 128 + signal : well ? exit_ok : exit_failed;
}

}  // namespace trireme::run
