// SPDX-License-Identifier: Apache-2.0
// Records of a training as journal lines and scalars.
#include "trireme/train/records/recorder.h"

#include <string>
#include <utility>

#include "trireme/observe/record_fields.h"

namespace trireme::train {

void Recorder::step(const StepRecord& record) {
  step_ = record.step;
  journal_.write("step", observe::fields_of(record));
}

void Recorder::epoch(const EpochRecord& record) {
  observe::Fields fields = observe::fields_of(record);
  fields.emplace_back("step", step_);
  journal_.write("epoch", fields);

  for (const auto& [part, score] : {std::pair{"train", record.train}, {"validation", record.validation}, {"test", record.test}}) {
    if (score.samples == 0) continue;
    events_.scalar(std::string("loss/") + part, record.epoch + 1, score.loss);
    events_.scalar(std::string("accuracy/") + part, record.epoch + 1, score.accuracy);
  }
  events_.scalar("penalty", record.epoch + 1, record.penalty);
  events_.scalar("learning_rate", record.epoch + 1, record.learning_rate);
  events_.scalar("samples_per_second", record.epoch + 1, record.samples_per_second);
  events_.flush();
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
  observe::Fields fields = observe::fields_of(score);
  fields.emplace_back("step", step_);
  journal_.write("test", fields);
}

}  // namespace trireme::train
