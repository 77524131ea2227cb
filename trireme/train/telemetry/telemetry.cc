// SPDX-License-Identifier: Apache-2.0
// A thread with a window, and the rows that gather meanwhile.
#include "trireme/train/telemetry/telemetry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

constexpr std::size_t kMaxWaitingSteps = 20'000;  // for a coordinator that is away; older ones are dropped

constexpr double kMinWindow = 0.2;  // seconds of a window: the kernel counts time in hundredths

}  // namespace

Telemetry::Telemetry(Options options)
    : options_(std::move(options)),
      traffic_(options_.traffic.total()),
      begun_(options_.time()),
      baseline_end_(begun_ + options_.baseline.count()) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Telemetry::~Telemetry() = default;

void Telemetry::run(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, options_.every, [] { return false; });
    lock.unlock();
    if (stop.stop_requested()) return;
    const std::lock_guard one_at_a_time(reporting_);
    report_window();
  }
}

void Telemetry::wait_for_baseline() {
  const double left = baseline_end_ - options_.time();
  if (options_.baseline <= Seconds(0) || left <= 0) return;
  std::this_thread::sleep_for(Seconds(left));
  flush();
}

void Telemetry::takes_part(Duty duty) {
  const std::lock_guard lock(mutex_);
  duty_ = std::move(duty);
}

void Telemetry::step(observe::StepAnatomy anatomy) {
  anatomy.start = options_.time() - anatomy.seconds;
  const std::lock_guard lock(mutex_);
  if (steps_.size() >= kMaxWaitingSteps) steps_.erase(steps_.begin(), steps_.begin() + kMaxWaitingSteps / 2);
  steps_.push_back(anatomy);
}

void Telemetry::flush() {
  const std::lock_guard one_at_a_time(reporting_);
  const double left = begun_ + shortest() - options_.time();
  if (left > 0) std::this_thread::sleep_for(Seconds(std::min(left, shortest())));  // no longer if the clock was set back
  report_window();
}

double Telemetry::shortest() const { return std::min(kMinWindow, 0.5 * options_.every.count()); }

void Telemetry::measure(TelemetryReport& report) {
  report.seconds = report.time - std::exchange(begun_, report.time);
  report.machine = machine_.look();
  report.process = process_.look();
  const Traffic now = options_.traffic.total();
  const Traffic before = std::exchange(traffic_, now);
  report.traffic = {.sent = now.sent - before.sent, .received = now.received - before.received};
}

TelemetryReport Telemetry::window() {
  TelemetryReport report{.time = options_.time()};
  report.is_baseline = options_.baseline > Seconds(0) && report.time <= baseline_end_ + 0.5 * options_.every.count();
  if (report.time - begun_ >= shortest()) measure(report);
  const std::lock_guard lock(mutex_);
  report.duty = duty_;
  report.steps = std::exchange(steps_, {});
  return report;
}

void Telemetry::report_window() {
  TelemetryReport report = window();
  if (report.seconds == 0 && report.steps.empty()) return;
  try {
    options_.send(report);
  } catch (const Error&) {  // not sent: the steps go with the next report
    const std::lock_guard lock(mutex_);
    std::ranges::move(steps_, std::back_inserter(report.steps));
    steps_ = std::move(report.steps);
  }
}

}  // namespace trireme::train
