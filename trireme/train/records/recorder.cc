// SPDX-License-Identifier: Apache-2.0
// Records of a training as journal lines and scalars.
#include "trireme/train/records/recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "trireme/observe/record_fields.h"

namespace trireme::train {

std::int64_t every_for(std::int64_t steps) {
  constexpr std::int64_t kPoints = 1000;
  return std::max(std::int64_t{1}, steps / kPoints);
}

Score Recorder::known(Score score) const {
  if (!has_accuracy_) score.accuracy = std::numeric_limits<double>::quiet_NaN();
  return score;
}

void Recorder::step(const StepRecord& reported) {
  StepRecord record = reported;
  record.batch = known(record.batch);
  record.epoch_mean = known(record.epoch_mean);
  if (record.step <= step_) events_.steps.restart(record.step);  // after a rollback
  step_ = record.step;
  journal_.write("step", observe::fields_of(record));
  if (record.step % events_.every == 0) write_step_events(record);
}

void Recorder::write_step_events(const StepRecord& record) const {
  observe::EventFile& events = events_.steps;
  events.scalar("step/loss", record.step, record.batch.loss);
  if (std::isfinite(record.batch.accuracy)) events.scalar("step/accuracy", record.step, record.batch.accuracy);
  events.scalar("step/learning_rate", record.step, record.learning_rate);
  if (record.seconds > 0) events.scalar("step/samples_per_second", record.step, static_cast<double>(record.batch.samples) / record.seconds);
}

void Recorder::epoch(const EpochRecord& reported) {
  EpochRecord record = reported;
  for (Score* score : {&record.train, &record.validation, &record.test}) *score = known(*score);
  observe::Fields fields = observe::fields_of(record);
  fields.emplace_back("step", step_);
  journal_.write("epoch", fields);

  for (const auto& [part, score] : {std::pair{"train", record.train}, {"validation", record.validation}, {"test", record.test}}) {
    if (score.samples == 0) continue;
    events_.epochs.scalar(std::string("loss/") + part, record.epoch + 1, score.loss);
    if (has_accuracy_) events_.epochs.scalar(std::string("accuracy/") + part, record.epoch + 1, score.accuracy);
  }
  events_.epochs.scalar("penalty", record.epoch + 1, record.penalty);
  events_.epochs.scalar("learning_rate", record.epoch + 1, record.learning_rate);
  events_.epochs.scalar("samples_per_second", record.epoch + 1, record.samples_per_second);
  events_.epochs.flush();
  events_.steps.flush();
}

void Recorder::server(const ServerRecord& record) { journal_.write("server", observe::fields_of(record)); }

void Recorder::switched(const SwitchRecord& record) {
  observe::Fields fields = observe::fields_of(record);
  fields.emplace_back("statistics", "averaged over the workers");
  fields.emplace_back("random_streams", "keyed by sample, go on");
  journal_.write("switch", fields);
}

void Recorder::checkpoint(const CheckpointRecord& record) {
  journal_.write("checkpoint", {{"step", record.step}, {"directory", record.directory.filename().string()}, {"seconds", record.seconds}});
  journal_.sync();
}

void Recorder::test(const Score& score) {
  observe::Fields fields = observe::fields_of(known(score));
  fields.emplace_back("step", step_);
  journal_.write("test", fields);
}

}  // namespace trireme::train
