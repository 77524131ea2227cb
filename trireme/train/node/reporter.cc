// SPDX-License-Identifier: Apache-2.0
// Sends records as messages, and remembers them until they are acknowledged.
#include "trireme/train/node/reporter.h"

#include <limits>

#include "trireme/train/messages/reports.h"

namespace trireme::train {
namespace {

// The coordinator acknowledges once a second, and is declared lost after ten: more than any node trains in that time. About 10 MB.
constexpr std::size_t kMaxRemembered = 1 << 16;

}  // namespace

void Reporter::send(std::string_view kind, std::string bytes) { membership_.send({.kind = std::string(kind), .bytes = std::move(bytes)}); }

void Reporter::step(const StepRecord& record) {
  steps_.push_back(record);
  if (steps_.size() > kMaxRemembered) steps_.pop_front();
  if (is_reporting_) send(kStepReport, pack(record));
}

void Reporter::epoch(const EpochRecord& record) {
  epochs_.push_back(record);
  if (epochs_.size() > kMaxRemembered) epochs_.pop_front();
  if (is_reporting_) send(kEpochReport, pack(record));
}

void Reporter::straggler(const StragglerRecord& record) {
  if (is_reporting_) send(kStragglerReport, pack(record));
}

void Reporter::slow_link(const SlowLinkRecord& record) {
  if (is_reporting_) send(kSlowLinkReport, pack(record));
}

void Reporter::server(const ServerRecord& record) { send(kServerReport, pack(record)); }

void Reporter::switched(const SwitchRecord& record) {
  if (is_reporting_) send(kSwitchReport, pack(record));
}

void Reporter::recorded(const Cursor& up_to) {
  while (!steps_.empty() && steps_.front().step <= up_to.step) steps_.pop_front();
  while (!epochs_.empty() && epochs_.front().epoch < up_to.epoch) epochs_.pop_front();
}

void Reporter::go_back_to(const Cursor& cursor) {
  while (!steps_.empty() && steps_.back().step > cursor.step) steps_.pop_back();
  while (!epochs_.empty() && epochs_.back().epoch >= cursor.epoch) epochs_.pop_back();
}

// As it happened: an epoch's record after those of its steps.
void Reporter::report_again() {
  auto step = steps_.begin();
  const auto report_steps = [&](std::int64_t last_epoch) {
    for (; step != steps_.end() && step->epoch <= last_epoch; ++step) send(kStepReport, pack(*step));
  };
  for (const EpochRecord& epoch : epochs_) {
    report_steps(epoch.epoch);
    send(kEpochReport, pack(epoch));
  }
  report_steps(std::numeric_limits<std::int64_t>::max());
}

}  // namespace trireme::train
