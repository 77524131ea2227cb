// SPDX-License-Identifier: Apache-2.0
// A parameter server: it has some pieces of the parameter space, updates them with what workers push, and answers with the new values.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/observe/spans.h"
#include "trireme/optim/optimizer.h"
#include "trireme/ps/ledger.h"
#include "trireme/ps/rules.h"
#include "trireme/ps/shard_map.h"
#include "trireme/rpc/bulk.h"

namespace trireme::ps {

// What a worker made of a lease.
struct WorkDone {
  std::string worker;  // its name; empty: several
  Lease lease;
  std::int64_t samples = 0, correct = 0;
  double loss = 0, penalty = 0;
  double rate = 0;  // learning rate
  double compute_seconds = 0, wait_seconds = 0, seconds = 0;
  std::int64_t staleness = 0;  // updates by others between what it computed with and what it changed
  std::int64_t stretch = 0;    // Applied::stretch, lease: for event journals
  std::int64_t first_lease = 0;
  std::vector<std::string> faulty;  // workers whose loss or gradients were not finite: their steps were skipped
  bool is_reported = true;          // false: it is used, but what came of it (all but lease and samples) was lost with a worker or a stream
};

// A push at one server, when all of it is here, or when its worker is lost and no more will come. For event journals.
struct Applied {
  std::string worker;
  std::uint64_t id = 0;
  bool taken = true;         // false: it came too late and was dropped
  bool is_whole = true;      // false: pieces of it never came
  std::int64_t stretch = 0;  // updates before it: leases are numbered anew in each
  std::int64_t lease = 0;    // the first of its samples; 0 where pushes are summed
  std::int64_t samples = 0;
  std::size_t pieces = 0;  // that it changed ...
  std::size_t all = 0;     // ... of those this server has
};

// A lease that was out when the workers changed and that no worker goes on with.
struct LostLease {
  std::int64_t lease = 0;
  std::int64_t half = 0;   // as Lease has it
  std::int64_t first = 0;  // lease of its samples
  std::uint64_t seat = 0;  // of its worker: the same at all servers, since they see the same workers come
};

inline constexpr std::size_t kStalenessBins = 33;  // 0 ... 31, more

// Since the last time it was asked.
struct ServerLoad {
  double seconds = 0;       // of wall time
  double busy_seconds = 0;  // spent on updates and copies, summed over threads
  double held_seconds = 0;  // that answers were held back for slower workers
  std::int64_t pushes = 0;  // that came whole
  std::int64_t dropped = 0;
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::array<std::int64_t, kStalenessBins> staleness{};  // pushes by how stale their gradients were
  std::int64_t most_ahead = 0;                           // of the slowest worker, that any was when it went on
};

// All calls may come from any thread; received() of different workers run at the same time, on the threads that call them.
class Server {
 public:
  struct Setup {
    const ParameterSpace& space;
    const optim::Optimizer& optimizer;
    std::shared_ptr<const ShardMap> map;
    int number = 0;  // which of the map's servers this is
    // Of the whole space; only the pieces of this server are read or written, and only by it from here on.
    std::span<float> parameters;
    std::vector<std::span<float>> slots;
    const Clock& clock;
    // Before the answer. May be empty; several threads may call it at a time.
    std::function<void(const Applied& push)> applied = {};
    observe::Spans* spans = nullptr;  // gets the pushes of workers that are profiled; may be null
  };
  explicit Server(Setup setup);
  ~Server();  // closes all streams
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // From one meeting of all nodes to the next.
  struct Stretch {
    std::uint64_t generation = 0;
    std::vector<std::string> workers;  // names, in order of their numbers
    std::vector<std::string> readers;  // others who may fetch, and do nothing else
    Rules rules;
    std::int64_t updates = 0;             // made so far: the version of every piece
    std::optional<Ledger::Options> work;  // only at the lead
  };
  void begin(Stretch stretch);
  // The same stretch, with other workers, some of them new: what lost ones had begun is forgotten (sums of a round that is not complete),
  // streams of older generations are refused. A push that was taken before stays taken: it is known by its id. No node may connect before
  // the leases of lost workers are settled: the lead says which they are (lost), all servers which of their pieces have their pushes (has),
  // and the lead, when it knows of all pieces, what follows (settle): all have it: its samples are used; none: another worker gets
  // them; some: another worker gets them for the others. If a generation ends in between, the next begins with regroup again.
  void regroup(std::uint64_t generation, std::vector<std::string> workers, std::vector<std::string> readers,
               const std::vector<std::int64_t>& kept_leases);

  std::vector<LostLease> lost() const;  // in step: none, since rounds have it all
  // Lease after lease, for each piece of the whole map: 1 if it is here and has it, else 0.
  std::vector<double> has(std::span<const LostLease> leases);
  void settle(std::span<const LostLease> leases, std::span<const double> had);

  // A worker's stream, from its first message on. The session is kept until it is closed.
  rpc::BulkListener open(const std::string& worker, std::shared_ptr<rpc::BulkSession> session);

  // The lead: hand out no more, so that all meet soon.
  void stop();
  // Waits until every worker has retired (and, at the lead, all that was handed out is used); false after the timeout. Throws out_of_range
  // if values came, or were summed, that are not finite.
  bool await_retired(Seconds timeout);
  std::vector<WorkDone> take_done();  // at the lead, in the order they came
  std::int64_t used() const;          // samples of the epoch, at the lead
  bool is_complete() const;           // every sample of the epoch is used, at the lead
  ServerLoad take_load();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace trireme::ps
