// SPDX-License-Identifier: Apache-2.0
// The training of a range test: some steps of a job with a learning rate that grows, and nothing is kept.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/experiment/rate_range.h"
#include "trireme/train/job/job.h"

namespace trireme::experiment {

struct RateTrialOptions {
  int steps = 100;
  double from = 1e-6;
  double to = 10;
  std::filesystem::path algorithm_cache;
  std::function<void(int step, const RateStep& done)> on_step;
};

struct RateTrial {
  std::vector<RateStep> steps;
  bool has_diverged = false;  // it was stopped for that
};

// As the job begins, from its initial weights. Error cancelled if `stop` is set meanwhile.
RateTrial try_rates(const train::Job& job, const data::DataSets& data, const RateTrialOptions& options, const Clock& clock,
                    const std::atomic<int>& stop);

}  // namespace trireme::experiment
