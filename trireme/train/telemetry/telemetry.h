// SPDX-License-Identifier: Apache-2.0
// A node's measurements of itself: once a second it tells what its machine, its process and its steps did meanwhile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/traffic.h"
#include "trireme/observe/machine_sampler.h"
#include "trireme/observe/step_anatomy.h"

namespace trireme::train {

// A node's place in its team.
struct Duty {
  int rank = 0;
  std::string what = "worker";
  std::uint64_t generation = 0;
  double share = 0;  // of each batch; 0: it has none of its own
};

// Of one window.
struct TelemetryReport {
  double time = 0;           // its end: seconds since 1970, on the coordinator's clock
  double seconds = 0;        // 0: too short to measure anything; only the steps are told
  bool is_baseline = false;  // before the training began
  observe::MachineSample machine;
  observe::ProcessSample process;
  Duty duty;
  Traffic traffic;
  std::vector<observe::StepAnatomy> steps;
};

std::string pack(const TelemetryReport& report);
TelemetryReport unpack_telemetry(const std::string& bytes);  // data_loss for bytes that are none

class Telemetry {
 public:
  struct Options {
    Seconds every{1};
    Seconds baseline{0};  // so long the windows are those of a machine at rest; wait_for_baseline() waits for their end
    // Called by the thread that measures. What it throws is taken for "not now": the steps are told with the next window.
    std::function<void(const TelemetryReport&)> send;
    std::function<double()> time;  // seconds since 1970 on the coordinator's clock
  };
  explicit Telemetry(Options options);
  ~Telemetry();

  void wait_for_baseline();
  void takes_part(Duty duty);
  void step(observe::StepAnatomy anatomy);  // that has just ended
  void flush();                             // tells the window so far, once it is long enough to be measured (0.2 s)

 private:
  void run(const std::stop_token& stop);
  void tell_window();
  TelemetryReport window();
  void measure(TelemetryReport& report);
  double shortest() const;  // seconds of a window that tells anything

  Options options_;
  std::mutex telling_;  // one window at a time
  observe::MachineSampler machine_;
  observe::ProcessSampler process_;
  Traffic traffic_;
  double begun_;  // the window
  double baseline_end_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Duty duty_;
  std::vector<observe::StepAnatomy> steps_;  // not yet told
  std::jthread thread_;                      // last, so that it ends first
};

}  // namespace trireme::train
