// SPDX-License-Identifier: Apache-2.0
// Phases of a step and times of its ops, as spans and sums.
#include "trireme/train/loop/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trireme/base/clock.h"

namespace trireme::train {
namespace {

constexpr std::string_view kTrack = "training";

double now() { return SteadyClock().now().count(); }

std::string_view name_of(std::string_view phase) {
  if (phase == "wait") return "input wait";
  if (phase == "exchange") return "exchange exposed";
  return phase == "update" ? "optimizer" : phase;
}

}  // namespace

Profiler::Profiler(ProfileWindow window, Deliver deliver) : window_(deliver ? window : ProfileWindow{}), deliver_(std::move(deliver)) {}

engine::OpTimes* Profiler::begin_step(std::int64_t step, std::int64_t epoch) {
  if (!window_.is_on()) return nullptr;
  if (!window_.contains(step, epoch)) {
    if (ops_) finish();
    return nullptr;
  }
  if (!ops_) {
    ops_.emplace();
    first_step_ = step;
  }
  step_ = step;
  begun_ = now();
  if (phase_ == "evaluate") close_phase(begun_);
  phase_.clear();
  times_.end = times_.begin = 0;
  spans_.turn_on(true);
  return &times_;
}

void Profiler::enter(std::string_view phase) {
  if (!spans_.is_on()) return;
  const double time = now();
  close_phase(time);
  phase_ = phase;
  phase_begun_ = time;
}

// What is computed has spans of its own.
void Profiler::close_phase(double time) {
  const std::string phase = std::exchange(phase_, {});
  if (phase.empty() || (phase == "compute" && times_.end > 0)) return;
  spans_.add({.name = name_of(phase), .category = "phase", .track = kTrack, .begin = phase_begun_, .end = time, .step = step_});
}

void Profiler::add_op_spans(const engine::OpTable& table) {
  spans_.add({.name = "forward", .category = "phase", .track = kTrack, .begin = times_.begin, .end = times_.forward_end, .step = step_});
  spans_.add({.name = "backward", .category = "phase", .track = kTrack, .begin = times_.forward_end, .end = times_.end, .step = step_});
  for (std::size_t lane = 0; lane < times_.lanes.size(); ++lane) {
    const std::string track = lane == 0 ? std::string(kTrack) : fmt::format("lane {}", lane);
    for (const engine::OpTimes::Run& run : times_.lanes[lane]) {
      const engine::OpTable::Step& step = table.steps[run.step];
      spans_.add({.name = step.name,
                  .category = table.rows[step.row].category,
                  .track = track,
                  .begin = run.begin,
                  .end = run.begin + run.seconds,
                  .is_op = true});
    }
  }
}

void Profiler::end_step(const Step& step) {
  if (!spans_.is_on() || !ops_) return;
  const double time = now();
  close_phase(time);
  const bool has_computed = step.ops != nullptr && times_.end > 0;
  spans_.add({.name = fmt::format("step {}", step_), .category = "step", .track = kTrack, .begin = begun_, .end = time, .step = step_});
  if (has_computed) add_op_spans(*step.ops);
  ops_->add({.samples = step.samples, .seconds = time - begun_, .input_wait = step.input_wait, .times = step.times},
            has_computed ? step.ops : nullptr, has_computed ? &times_ : nullptr);
}

void Profiler::finish() {
  spans_.turn_on(false);
  if (!deliver_ || (!ops_ && spans_.is_empty())) return;
  ProfileData data{.ops = ops_ ? *ops_ : OpProfile{}, .spans = spans_.take(), .first_step = first_step_, .last_step = step_};
  ops_.reset();
  deliver_(std::move(data));
}

}  // namespace trireme::train
