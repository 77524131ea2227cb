// SPDX-License-Identifier: Apache-2.0
// Records of a training as journal lines and scalars.
#include "trireme/train/recorder.h"

namespace trireme::train {

void Recorder::step(const StepRecord& record) {
  step_ = record.step;
  journal_.write("step", {{"step", record.step},
                          {"epoch", record.epoch + 1},
                          {"samples_seen", record.samples_seen},
                          {"samples", record.batch.samples},
                          {"loss", record.batch.loss},
                          {"accuracy", record.batch.accuracy},
                          {"learning_rate", record.learning_rate},
                          {"seconds", record.seconds},
                          {"wait_seconds", record.wait_seconds},
                          {"compute_seconds", record.compute_seconds},
                          {"exchange_seconds", record.exchange_seconds},
                          {"hidden_seconds", record.hidden_seconds},
                          {"optimizer_seconds", record.optimizer_seconds}});
}

void Recorder::epoch(const EpochRecord& record) {
  observe::Fields fields{{"epoch", record.epoch + 1},
                         {"step", step_},
                         {"samples", record.train.samples},
                         {"loss", record.train.loss},
                         {"penalty", record.penalty},
                         {"accuracy", record.train.accuracy},
                         {"learning_rate", record.learning_rate},
                         {"seconds", record.seconds},
                         {"samples_per_second", record.samples_per_second},
                         {"wait_seconds", record.wait_seconds},
                         {"background_seconds", record.background_seconds},
                         {"exchange_seconds", record.exchange_seconds},
                         {"hidden_seconds", record.hidden_seconds}};
  if (record.validation.samples > 0) {
    fields.emplace_back("validation_loss", record.validation.loss);
    fields.emplace_back("validation_accuracy", record.validation.accuracy);
  }
  if (record.test.samples > 0) {
    fields.emplace_back("test_loss", record.test.loss);
    fields.emplace_back("test_accuracy", record.test.accuracy);
  }
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

void Recorder::checkpoint(const CheckpointRecord& record) {
  journal_.write("checkpoint", {{"step", record.step}, {"directory", record.directory.filename().string()}, {"seconds", record.seconds}});
  journal_.sync();
}

void Recorder::test(const Score& score) {
  journal_.write("test", {{"step", step_}, {"samples", score.samples}, {"loss", score.loss}, {"accuracy", score.accuracy}});
}

}  // namespace trireme::train
