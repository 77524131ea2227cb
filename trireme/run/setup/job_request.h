// SPDX-License-Identifier: Apache-2.0
// What to train: a job file, or a run that goes on, with what is changed of its job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

struct JobRequest {
  std::string file;    // either this one ...
  std::string text;    // if not empty: the job that was written for `file`, which is data
  std::string resume;  // ... or the run to continue, with its own job
  std::vector<std::string> settings;
  std::int64_t threads = -1;  // below 0: as the job says
  std::string strategy;       // this one and the next, if empty: as the job says
  std::string profile;

  bool changes_job() const { return !settings.empty() || threads >= 0 || !strategy.empty() || !profile.empty(); }
};

// With public data sets resolved; they are fetched if they are not there yet.
Config load_job(const JobRequest& request, const Console& console);

// The job_hash of the job file, without a fetch. Empty with `resume`: only the coordinator knows the job of a run that goes on.
std::string hash_of_file(const JobRequest& request);

}  // namespace trireme::run
