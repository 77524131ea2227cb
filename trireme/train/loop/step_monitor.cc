// SPDX-License-Identifier: Apache-2.0
// One call for each sink.
#include "trireme/train/loop/step_monitor.h"

#include <algorithm>

namespace trireme::train {

StepMonitor::StepMonitor(const Cursor& cursor, const Clock& clock, const Sinks& sinks)
    : cursor_(cursor),
      at_(sinks.at),
      anatomy_(clock, sinks.anatomy, sinks.traffic),
      profiler_(sinks.profiler),
      enter_([this](std::string_view phase) {
        at(phase);
        if (profiler_ != nullptr) profiler_->enter(phase);
      }) {}

void StepMonitor::at(std::int64_t step, std::string_view phase) const {
  if (at_) at_(step, phase);
}

void StepMonitor::begin_step(std::int64_t step, std::int64_t epoch, Replica& replica) {
  replica.watch(profiler_ != nullptr ? profiler_->begin_step(step, epoch) : nullptr);
  enter_("wait");
  anatomy_.begin();
}

void StepMonitor::end_step(const AnatomyLog::Step& step, const engine::OpTable* ops) {
  anatomy_.end(step);
  if (profiler_ == nullptr) return;
  profiler_->end_step(
      {.samples = step.samples, .input_wait = std::max(0.0, step.batch_wait - step.work_wait), .times = step.times, .ops = ops});
}

}  // namespace trireme::train
