// SPDX-License-Identifier: Apache-2.0
// Compiles a worker's model for its part of a batch, now and in later phases of the plan.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trireme/train/job/plan.h"
#include "trireme/train/loop/evaluation.h"
#include "trireme/train/loop/training_state.h"

namespace trireme::train {

// The plan, and where in it all stop next.
struct PlanCourse {
  Plan plan;
  std::int64_t stop_at = 0;  // samples seen: there the plan has something else

  void find_stop(std::int64_t samples_seen) { stop_at = plan.next_stop(samples_seen); }
};

class PlanCompiler {
 public:
  // Of epochs of `samples`. All must outlive it.
  struct Setup {
    const Job& job;
    std::int64_t samples = 0;
    const Plan& plan;
    TrainingState& state;
    Evaluation& evaluation;
  };
  explicit PlanCompiler(const Setup& setup) : setup_(setup) {}

  // For `samples` at once, and the evaluation; nothing at all for none.
  void compile(std::int64_t samples);
  // Samples to compile for: as the strategy of now divides batches, and those of other phases that need hardly more.
  std::int64_t capacity(const std::vector<double>& shares, int rank) const;
  // For worker `rank` of `size`. `times_all`: the engine's algorithms for later phases are timed now, not in a switch.
  void prepare(int rank, int size, bool times_all);

 private:
  std::int64_t capacity_in(const StrategyPart& part, const std::vector<double>& shares, int rank) const;

  Setup setup_;
};

}  // namespace trireme::train
