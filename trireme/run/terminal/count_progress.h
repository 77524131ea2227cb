// SPDX-License-Identifier: Apache-2.0
// How far a pass over many samples is: a line that renews itself on a terminal, a line now and then elsewhere.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "trireme/base/clock.h"

namespace trireme::run {

class CountProgress {
 public:
  struct Settings {
    bool terminal = false;  // may the line be rewritten?
    std::string what;       // "samples"
    std::int64_t total = 0;
  };
  CountProgress(std::ostream& out, const Clock& clock, Settings settings);
  ~CountProgress();  // takes the line away
  CountProgress(const CountProgress&) = delete;
  CountProgress& operator=(const CountProgress&) = delete;

  void at(std::int64_t done);

 private:
  std::ostream& out_;
  const Clock& clock_;
  Settings settings_;
  Seconds started_, last_shown_;
  bool has_line_ = false;
};

}  // namespace trireme::run
