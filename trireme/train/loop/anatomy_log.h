// SPDX-License-Identifier: Apache-2.0
// Records where the time of each of this node's steps goes.
#pragma once

#include <functional>
#include <optional>

#include "trireme/base/clock.h"
#include "trireme/base/traffic.h"
#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/observe/records/step_anatomy.h"
#include "trireme/train/team/strategy.h"

namespace trireme::train {

class AnatomyLog {
 public:
  using Report = std::function<void(const observe::StepAnatomy&)>;
  // `report` may be empty: then nothing is recorded. `counter` has the bytes of this node; null: it exchanges none. Both it and the clock
  // must outlive this.
  AnatomyLog(const Clock& clock, Report report, const TrafficCounter* counter)
      : clock_(clock), report_(std::move(report)), counter_(counter) {}

  // Something that is no step comes, or came, after the last one: an evaluation, a meeting, another generation.
  void pause() { end_.reset(); }
  // A step begins: where the one before ended, so that nothing between them is lost.
  void begin();

  struct Step {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::int64_t samples = 0;  // of this node
    double batch_wait = 0;     // for the next batch, and ...
    double work_wait = 0;      // ... of it, at most, for the lease that the batch is made of
    data::StreamTimes stream;  // since the stream began
    StepTimes times;
  };
  void end(const Step& step);
  void begin_stream() { stream_ = {}; }

 private:
  Traffic exchanged() const { return counter_ != nullptr ? counter_->total() : Traffic{}; }

  const Clock& clock_;
  Report report_;
  const TrafficCounter* counter_;
  std::optional<Seconds> end_;  // of the last step
  Traffic traffic_;             // by then
  data::StreamTimes stream_;    // by then
};

}  // namespace trireme::train
