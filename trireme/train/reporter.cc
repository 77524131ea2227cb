// SPDX-License-Identifier: Apache-2.0
// Records as messages.
#include "trireme/train/reporter.h"

#include "trireme/train/reports.h"

namespace trireme::train {
namespace {

constexpr std::size_t kRemembered = 32;  // steps whose reports may not have reached a coordinator that died

}  // namespace

void Reporter::send(std::string_view kind, std::string bytes) { membership_.send({.kind = std::string(kind), .bytes = std::move(bytes)}); }

void Reporter::step(const StepRecord& record) {
  steps_.push_back(record);
  if (steps_.size() > kRemembered) steps_.pop_front();
  if (tells_) send(kStepReport, pack(record));
}

void Reporter::epoch(const EpochRecord& record) {
  epoch_ = record;
  if (tells_) send(kEpochReport, pack(record));
}

void Reporter::straggler(const StragglerRecord& record) {
  if (tells_) send(kStragglerReport, pack(record));
}

void Reporter::server(const ServerRecord& record) { send(kServerReport, pack(record)); }

void Reporter::switched(const SwitchRecord& record) {
  if (tells_) send(kSwitchReport, pack(record));
}

void Reporter::tell_again() {
  for (const StepRecord& record : steps_) {
    if (epoch_ && record.epoch > epoch_->epoch) break;
    send(kStepReport, pack(record));
  }
  if (epoch_) send(kEpochReport, pack(*epoch_));
  for (const StepRecord& record : steps_)
    if (!epoch_ || record.epoch > epoch_->epoch) send(kStepReport, pack(record));
}

}  // namespace trireme::train
