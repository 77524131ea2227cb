// SPDX-License-Identifier: Apache-2.0
// A training as people follow it: one line that renews itself on a terminal, a line an epoch elsewhere.
#pragma once

#include <ostream>

#include "trireme/base/clock.h"
#include "trireme/train/records/observer.h"

namespace trireme::run {

class Progress final : public train::Observer {
 public:
  struct Settings {
    bool terminal = false;  // may lines be rewritten?
    std::int64_t epochs = 0;
    bool classes = true;  // is there an accuracy?
  };
  Progress(std::ostream& out, const Clock& clock, const Settings& settings)
      : out_(out), clock_(clock), settings_(settings), last_shown_(clock.now()) {}

  void step(const train::StepRecord& record) override;
  void epoch(const train::EpochRecord& record) override;
  // Of the evaluation after the last epoch; on a terminal only, and gone from there once it is done.
  void evaluation(std::int64_t done, std::int64_t all);

 private:
  void show_skips(const train::StepRecord& record);
  std::string score(std::string_view prefix, const train::Score& score, double penalty = 0) const;

  std::ostream& out_;
  const Clock& clock_;
  Settings settings_;
  Seconds last_shown_;
};

}  // namespace trireme::run
