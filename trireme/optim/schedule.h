// SPDX-License-Identifier: Apache-2.0
// The factor on the learning rate as a function of samples seen, so that a resize or a change of strategy doesn't move it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/options.h"

namespace trireme::optim {

struct ScheduleOptions {
  std::string kind = "constant";
  std::vector<double> boundaries;
  std::vector<double> factors;
  double final_factor = 0;
  double warmup_epochs = 0;
  double warmup_start = 0.1;
  std::int64_t reference_batch_size = 0;
};
void describe(ScheduleOptions& o, OptionVisitor& visit);

// What a schedule is stretched over.
struct ScheduleSpan {
  std::int64_t samples_per_epoch = 1;
  double epochs = 1;
  std::int64_t batch_size = 1;  // over all workers
};

class Schedule {
 public:
  // Throws invalid_argument if boundaries and factors don't fit together.
  Schedule(ScheduleOptions options, const ScheduleSpan& span);

  // For a step that begins when `samples` have been seen: kind x warm-up x linear scaling.
  double factor(double samples) const;

 private:
  double shape(double epoch) const;
  double warmup(double epoch) const;
  double scaling() const;

  ScheduleOptions options_;
  ScheduleSpan span_;
};

}  // namespace trireme::optim
