// SPDX-License-Identifier: Apache-2.0
// What a parameter server reports after an epoch, described.
#pragma once

#include <cstdint>
#include <vector>

#include "trireme/observe/records/field.h"

namespace trireme::observe {

// A parameter server since its last record.
struct ServerRecord {
  int server = 0;   // its number ...
  int servers = 1;  // ... of so many
  int workers = 1;
  std::int64_t epoch = 0;  // the first is 0
  std::int64_t parameter_bytes = 0;
  double imbalance = 1;
  double seconds = 0;
  double busy_seconds = 0;
  double held_seconds = 0;
  std::int64_t pushes = 0, dropped = 0;
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::vector<std::int64_t> staleness;  // pushes by the updates that others had made meanwhile; the last: that many or more
  std::int64_t most_ahead = 0;
  double wait_share = 0;
  int servers_needed = 0;
};

template <Described<ServerRecord> R, class Visit>
void describe(R& r, Visit&& visit) {
  visit(Field{.name = "server", .meaning = "its number, from 0"}, r.server);
  visit(Field{.name = "servers", .meaning = "how many there are"}, r.servers);
  visit(Field{.name = "workers", .meaning = "how many there are"}, r.workers);
  visit(Field{.name = "epoch", .meaning = "from 1", .is_from_one = true}, r.epoch);
  visit(Field{.name = "parameter_bytes", .unit = "bytes", .meaning = "of parameters that it holds"}, r.parameter_bytes);
  visit(Field{.name = "imbalance", .meaning = "maximum bytes of a server / mean"}, r.imbalance);
  visit(Field{.name = "seconds", .unit = "s", .meaning = "since its last record", .combine = Combine::sum}, r.seconds);
  visit(Field{.name = "busy_seconds", .unit = "s", .meaning = "spent on updates and copies, over all its threads", .combine = Combine::sum},
        r.busy_seconds);
  visit(
      Field{.name = "held_seconds", .unit = "s", .meaning = "for which answers were held back for slower workers", .combine = Combine::sum},
      r.held_seconds);
  visit(Field{.name = "pushes", .meaning = "received completely", .combine = Combine::sum}, r.pushes);
  visit(Field{.name = "dropped", .meaning = "that arrived too late (`backup_workers`)", .combine = Combine::sum}, r.dropped);
  visit(Field{.name = "bytes_in", .unit = "bytes", .meaning = "gradients on its streams", .combine = Combine::sum}, r.bytes_in);
  visit(Field{.name = "bytes_out", .unit = "bytes", .meaning = "parameters on its streams", .combine = Combine::sum}, r.bytes_out);
  visit(Field{.name = "staleness",
              .meaning = "pushes whose parameters were 0, 1, 2 ... 31, or more updates old, separated by spaces",
              .combine = Combine::sum},
        r.staleness);
  visit(Field{.name = "most_ahead",
              .unit = "pushes",
              .meaning = "maximum lead of an admitted worker over the slowest",
              .combine = Combine::max},
        r.most_ahead);
  visit(Field{.name = "wait_share",
              .meaning = "first server only: share of the workers' time spent waiting for servers",
              .is_present = r.server == 0},
        r.wait_share);
  visit(Field{.name = "servers_needed",
              .meaning = "first server only: number of servers that would suffice; 0: the current number does",
              .is_present = r.server == 0},
        r.servers_needed);
}

}  // namespace trireme::observe
