// SPDX-License-Identifier: Apache-2.0
// Scores of the model as it is now, by all workers of a team together.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "trireme/base/clock.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/train/job/job.h"
#include "trireme/train/loop/step_monitor.h"
#include "trireme/train/loop/work_group.h"
#include "trireme/train/team/evaluator.h"

namespace trireme::train {

class Evaluation {
 public:
  // All must outlive it.
  struct Setup {
    const Job& job;
    const data::DataSets& data;
    const Clock& clock;
    const StepMonitor& monitor;
    std::filesystem::path algorithm_cache;
    std::function<bool()> gives_up;  // see data::StreamOptions
  };
  explicit Evaluation(Setup setup) : setup_(std::move(setup)) {}

  void compile();  // once
  // Each worker its part, the sums together. Compiled at every worker that has a part.
  Score score(const std::shared_ptr<const data::Source>& samples, WorkGroup& group, const ModelValues& model);

 private:
  Setup setup_;
  std::optional<Evaluator> evaluator_;
};

}  // namespace trireme::train
