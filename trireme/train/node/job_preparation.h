// SPDX-License-Identifier: Apache-2.0
// What a node does before it trains: the coordinator's job, with data files of this machine, fetched if they were not here.
#pragma once

#include <string>

#include "trireme/train/job/job.h"
#include "trireme/train/messages/progress_reporter.h"
#include "trireme/train/node/worker.h"

namespace trireme::train {

inline constexpr Seconds kCallTimeout{30};  // of a call to the coordinator

struct PreparedJob {
  Job job;
  std::string job_hash, data_hash;  // of the job file and of the contents of its data, to be compared by the coordinator
};

PreparedJob prepare_job(coord::Membership& membership, ProgressReporter& progress, const WorkerOptions& options, const Clock& clock);

}  // namespace trireme::train
