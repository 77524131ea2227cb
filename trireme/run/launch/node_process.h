// SPDX-License-Identifier: Apache-2.0
// This process as a node of a training: joins, works, and leaves when it is dismissed or its launcher is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "trireme/comm/communicator.h"
#include "trireme/run/secrets/node_secrets.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

struct NodeOptions {
  std::int64_t threads = 0;  // 0: this machine's cores, divided by its nodes
  double start_timeout = 120;
  std::string job_hash;  // of the job file it was started with; empty: the coordinator's job is taken as it is
  double keep = 0;       // seconds to wait for a coordinator that is gone without a word; 0: end with it
  std::filesystem::path events;
  bool has_launcher = false;              // which holds standard input open for as long as it lives
  std::shared_ptr<comm::MpiLibrary> mpi;  // not empty: collectives are MPI's
};

// The exit code.
int run_node(const NodeSecrets& secrets, const NodeOptions& options, const Console& console);

}  // namespace trireme::run
