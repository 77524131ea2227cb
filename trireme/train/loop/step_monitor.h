// SPDX-License-Identifier: Apache-2.0
// Follows a node's steps: where it is, where the time of each goes, and the profile of those that are to be profiled.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/loop/anatomy_log.h"
#include "trireme/train/loop/profiler.h"
#include "trireme/train/team/replica.h"
#include "trireme/train/team/strategy.h"

namespace trireme::train {

class StepMonitor {
 public:
  struct Sinks {
    std::function<void(std::int64_t step, std::string_view phase)> at = {};  // where this node is: "compute" of step 12; may be empty
    AnatomyLog::Report anatomy = {};                                         // each step of this node; may be empty
    Profiler* profiler = nullptr;                                            // may be null
    const TrafficCounter* traffic = nullptr;                                 // of this node; null: it exchanges nothing
  };
  // All must outlive it. The step after the cursor is the one that runs.
  StepMonitor(const Cursor& cursor, const Clock& clock, const Sinks& sinks);
  StepMonitor(const StepMonitor&) = delete;
  StepMonitor& operator=(const StepMonitor&) = delete;

  // Only reports where this node is.
  void at(std::int64_t step, std::string_view phase) const;
  void at(std::string_view phase) const { at(cursor_.step + 1, phase); }
  // The next phase of the step that runs.
  void enter(std::string_view phase) const { enter_(phase); }
  const EnterPhase& enter_phase() const { return enter_; }

  void begin_step(std::int64_t step, std::int64_t epoch, Replica& replica);
  void end_step(const AnatomyLog::Step& step, const engine::OpTable* ops);  // `ops`: null if this node computes nothing
  void begin_stream() { anatomy_.begin_stream(); }
  // Something that is no step comes, or came, after the last one.
  void pause() { anatomy_.pause(); }

  observe::Spans* spans() const { return profiler_ != nullptr ? &profiler_->spans() : nullptr; }

 private:
  const Cursor& cursor_;
  std::function<void(std::int64_t, std::string_view)> at_;
  AnatomyLog anatomy_;
  Profiler* profiler_;
  EnterPhase enter_;
};

}  // namespace trireme::train
