// SPDX-License-Identifier: Apache-2.0
// What limits and predictions are made from: the measured step of a run, in a dozen numbers.
#pragma once

#include <string>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

struct StepFacts {
  StrategyFacts strategy;
  bool is_mixed = false;  // several strategies in one run: a mean step of theirs is no strategy's step
  double steps = 0;
  double workers = 1;  // that compute
  double servers = 0;  // of parameters
  // Of a worker's mean step, seconds.
  double step = kUnknown, input_wait = 0, compute = kUnknown, exposed = 0, optimizer = 0, idle = 0;
  double exposed_least = 0;          // of the worker that waited least: the others waited for it, too
  double exchange = kUnknown;        // submitted to finished, overlapped or not
  double read = 0, decode = 0;       // by threads in the background
  double bytes_per_step = kUnknown;  // sent by a worker
  double parameters = kUnknown;
  double buckets = 1;  // into which an exchange is cut
  bool has_overlap = true;
  // The slowest worker by compute seconds for a sample, if there are several.
  std::string slowest;         // "node 2 on lab3"
  double slowness = kUnknown;  // times the median
  double machines = 1;
  double cluster_cpu = kUnknown;    // share of all cores
  double foreign_cores = kUnknown;  // that other programs kept busy meanwhile
  double cores = kUnknown;          // of all machines
  double server_wait_share = kUnknown, servers_needed = kUnknown, server_busy_share = kUnknown;
  double startup_seconds = kUnknown, elapsed_seconds = kUnknown;

  double share(double seconds) const { return seconds / step; }
  // Several nodes on one machine whose cores are all busy: they wait for cores, and there is no network between them.
  bool shares_cores() const { return machines == 1 && workers + servers > 1 && !(cluster_cpu < 0.85); }
  bool is_on_one_machine() const { return machines == 1 && workers + servers > 1; }
};

StepFacts step_facts(const RunDocument& document);

}  // namespace trireme::report
