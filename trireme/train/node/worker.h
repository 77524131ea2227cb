// SPDX-License-Identifier: Apache-2.0
// A node at work: it joins, gets job and data, and trains in step with the other members until it is dismissed.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/comm/communicator.h"
#include "trireme/coord/membership.h"

namespace trireme::train {

struct WorkerOptions {
  std::int64_t threads = 0;               // 0: every core this process may use
  std::int64_t nodes_on_machine = 1;      // which share its memory, this one included
  std::string address;                    // by which the other nodes reach this one
  std::string key;                        // the job's, for proving pairs
  std::string version;                    // of the program
  std::string job_hash;                   // of the job file that this node was started with; empty: it takes the coordinator's
  std::shared_ptr<comm::MpiLibrary> mpi;  // not empty: collectives are MPI's
  std::filesystem::path algorithm_cache;  // of this machine
  std::filesystem::path scratch;          // for staged data and caches
  Seconds start_timeout{120};
  Seconds keep{0};               // a coordinator that is gone without a word is waited for so long: another may take the run over
  std::filesystem::path events;  // folder for this process's event journal (docs/reliability.md); empty: none
  const std::atomic<int>* signal = nullptr;          // not 0: leave at the next boundary
  std::function<void(const std::string& line)> say;  // what a person should read
  std::function<void()> rejoined;                    // after a wait for the coordinator; may be empty
};

// Takes part in one generation after another: whichever other node is lost, or coordinator takes over. Returns when the coordinator
// has dismissed it: true if all went well, false after a failure, of which the coordinator knows. Throws only if it can't be informed.
bool run_worker(coord::Membership& membership, const WorkerOptions& options, const Clock& clock);

}  // namespace trireme::train
