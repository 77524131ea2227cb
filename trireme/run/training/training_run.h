// SPDX-License-Identifier: Apache-2.0
// A training with its run directory, from the job to the last record: what `trireme train` does.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/config.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/run/setup/job_request.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

struct TrainingRequest {
  Config config;                 // with public data sets resolved
  data::Sources sources;         // what it reads, once it is open
  std::filesystem::path base;    // a new run gets its directory in here ...
  std::string job_text;          // a job that was written for this run, which keeps it as job.toml; empty: there is a file
  std::string title;             // ... named after this, usually the job file's stem
  std::filesystem::path resume;  // instead: the run to continue ...
  bool changed = false;          // ... with settings that it had not before, and keeps from now on
  bool terminal = false;         // may the progress line be rewritten?
  bool dashboard = false;        // serve the run's page while it goes on?
  int dashboard_port = 0;        // 0: any
  std::string until;             // a point of the training at which to stop; empty: its end
};

// Of a job, with what follows from it. It may fetch data.
TrainingRequest training_request(const JobRequest& job, const Console& console);

// Opens the data and completes the job with what they decide of its model. A run that goes on keeps what it was begun with.
void fit_to_data(TrainingRequest& request);

// The request's data, which are opened here if they were not yet.
data::DataSets open_data(const TrainingRequest& request, const data::DataRequest& data);

// The exit code: 0, or 128 + the signal that interrupted it.
int run_training(const TrainingRequest& request, const Console& console, const std::atomic<int>& stop);

}  // namespace trireme::run
