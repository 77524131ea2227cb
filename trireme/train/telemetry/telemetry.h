// SPDX-License-Identifier: Apache-2.0
// A node's measurements of itself: once per second it reports what its machine, its process and its steps did meanwhile.
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
#include "trireme/observe/records/step_anatomy.h"

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
  double seconds = 0;        // 0: too short to measure anything; only the steps are reported
  bool is_baseline = false;  // before the training began
  observe::MachineSample machine;
  observe::ProcessSample process;
  Duty duty;
  Traffic traffic;
  std::vector<observe::StepAnatomy> steps;
};

// Of the node itself: its machine and its steps have descriptions of their own.
template <observe::Described<TelemetryReport> R, class Visit>
void describe(R& r, Visit&& visit) {
  using observe::Field;
  const bool is_measured = r.seconds > 0;
  visit(Field{.name = "rank", .meaning = "in its generation"}, r.duty.rank);
  visit(Field{.name = "duty", .meaning = "`worker`, `server` or `worker and server`"}, r.duty.what);
  visit(Field{.name = "generation", .meaning = "of the membership"}, r.duty.generation);
  visit(
      Field{
          .name = "share", .unit = "share, 0 to 1", .meaning = "of each batch; absent if work is by lease", .is_present = r.duty.share > 0},
      r.duty.share);
  visit(Field{.name = "window_seconds",
              .unit = "s",
              .meaning = "it and the next five are absent in a record of a window (under 0.2 s) that is too short to measure anything but "
                         "steps",
              .is_present = is_measured},
        r.seconds);
  visit(Field{.name = "cpu_user_seconds", .unit = "s", .meaning = "of its process in the window", .is_present = is_measured},
        r.process.cpu_user_seconds);
  visit(Field{.name = "cpu_system_seconds", .unit = "s", .meaning = "of its process in the window", .is_present = is_measured},
        r.process.cpu_system_seconds);
  visit(Field{.name = "memory_bytes", .unit = "bytes", .meaning = "resident", .is_present = is_measured}, r.process.memory_bytes);
  visit(Field{.name = "bytes_sent", .unit = "bytes", .meaning = "as above, in the window, also between steps", .is_present = is_measured},
        r.traffic.sent);
  visit(Field{.name = "bytes_received", .unit = "bytes", .meaning = "the same", .is_present = is_measured}, r.traffic.received);
  visit(Field{.name = "baseline", .meaning = "as of the machine"}, r.is_baseline);
  visit(Field{.name = "end", .is_in_files = false}, r.time);  // a record's own time
}

std::string pack(const TelemetryReport& report);
TelemetryReport unpack_telemetry(const std::string& bytes);  // data_loss for bytes that are none

class Telemetry {
 public:
  struct Options {
    Seconds every{1};
    Seconds baseline{0};  // so long the windows are those of a machine at rest; wait_for_baseline() waits for their end
    // Called by the thread that measures. An Error from it means "not now": the steps are reported with the next window.
    std::function<void(const TelemetryReport&)> send;
    std::function<double()> time;   // seconds since 1970 on the coordinator's clock
    const TrafficCounter& traffic;  // of this node; must outlive this
  };
  explicit Telemetry(Options options);
  ~Telemetry();

  void wait_for_baseline();
  void takes_part(Duty duty);
  void step(observe::StepAnatomy anatomy);  // that has just ended
  void flush();                             // reports the window so far, once it is long enough to be measured (0.2 s)

 private:
  void run(const std::stop_token& stop);
  void report_window();
  TelemetryReport window();
  void measure(TelemetryReport& report);
  double shortest() const;  // seconds of a window that can be measured

  Options options_;
  std::mutex reporting_;  // one window at a time
  observe::MachineSampler machine_;
  observe::ProcessSampler process_;
  Traffic traffic_;
  double begun_;  // the window
  double baseline_end_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Duty duty_;
  std::vector<observe::StepAnatomy> steps_;  // not yet reported
  std::jthread thread_;                      // last, so that it ends first
};

}  // namespace trireme::train
