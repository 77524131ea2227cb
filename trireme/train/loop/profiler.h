// SPDX-License-Identifier: Apache-2.0
// Follows a trainer through the steps that are to be profiled.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/engine/op_times.h"
#include "trireme/observe/spans.h"
#include "trireme/train/job/profile_window.h"
#include "trireme/train/loop/profile_data.h"

namespace trireme::train {

// Outside of the window every call returns after a look at it.
class Profiler {
 public:
  using Deliver = std::function<void(ProfileData)>;
  // What is kept is delivered when a step after the window begins, or with finish(). Empty: nothing is profiled.
  Profiler(ProfileWindow window, Deliver deliver);

  // Not null: the executor is to record its times here.
  engine::OpTimes* begin_step(std::int64_t step, std::int64_t epoch);
  void enter(std::string_view phase);  // of the step, as EnterPhase has them
  struct Step {
    std::int64_t samples = 0;
    double input_wait = 0;
    const StepTimes& times;
    const engine::OpTable* ops = nullptr;  // null: this node computes nothing
  };
  void end_step(const Step& step);
  void finish();

  observe::Spans& spans() { return spans_; }

 private:
  void close_phase(double time);
  void add_op_spans(const engine::OpTable& table);

  ProfileWindow window_;
  Deliver deliver_;
  observe::Spans spans_;
  engine::OpTimes times_;
  std::optional<OpProfile> ops_;
  std::int64_t step_ = 0, first_step_ = 0;
  double begun_ = 0;   // the step
  std::string phase_;  // that runs; empty: none
  double phase_begun_ = 0;
};

}  // namespace trireme::train
