// SPDX-License-Identifier: Apache-2.0
// Records of a training as journal lines and scalars.
#include "trireme/train/records/recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

namespace trireme::train {

void Recorder::step(const StepRecord& record) {
  step_ = record.step;
  observe::Fields fields{{"step", record.step},
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
                         {"optimizer_seconds", record.optimizer_seconds}};
  if (record.worker >= 0) {
    fields.emplace_back("worker", std::int64_t{record.worker});
    fields.emplace_back("staleness", record.staleness);
  }
  if (record.noise_scale != 0) fields.emplace_back("noise_scale", record.noise_scale);
  if (record.skips.steps > 0) {
    fields.emplace_back("skipped", record.skips.steps);
    fields.emplace_back("faulty_ranks", fmt::format("{}", fmt::join(record.skips.ranks, " ")));
  }
  journal_.write("step", fields);
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

// Bins as one text, without the empty ones at the end.
static std::string histogram(std::span<const std::int64_t> bins) {
  while (!bins.empty() && bins.back() == 0) bins = bins.first(bins.size() - 1);
  return fmt::format("{}", fmt::join(bins, " "));
}

void Recorder::server(const ServerRecord& record) {
  observe::Fields fields{{"server", std::int64_t{record.server}},
                         {"servers", std::int64_t{record.servers}},
                         {"workers", std::int64_t{record.workers}},
                         {"epoch", record.epoch + 1},
                         {"parameter_bytes", record.parameter_bytes},
                         {"imbalance", record.imbalance},
                         {"seconds", record.seconds},
                         {"busy_seconds", record.busy_seconds},
                         {"held_seconds", record.held_seconds},
                         {"pushes", record.pushes},
                         {"dropped", record.dropped},
                         {"bytes_in", record.bytes_in},
                         {"bytes_out", record.bytes_out},
                         {"staleness", histogram(record.staleness)},
                         {"most_ahead", record.most_ahead}};
  if (record.server == 0) {
    fields.emplace_back("wait_share", record.wait_share);
    fields.emplace_back("servers_needed", std::int64_t{record.servers_needed});
  }
  journal_.write("server", fields);
}

void Recorder::switched(const SwitchRecord& record) {
  journal_.write("switch", {{"step", record.step},
                            {"epoch", record.epoch + 1},
                            {"samples_seen", record.samples_seen},
                            {"from", record.from},
                            {"to", record.to},
                            {"why", record.why},
                            {"weights", record.state_was_shared ? "held by every node" : "sent to every node"},
                            {"slots", record.slots_reset ? "reset" : "carried"},
                            {"statistics", "averaged over the workers"},
                            {"random_streams", "keyed by sample, go on"},
                            {"learning_rate", record.learning_rate},
                            {"rate_factor_before", record.rate_factor_before},
                            {"rate_factor", record.rate_factor},
                            {"worker_batch_before", record.worker_batch_before},
                            {"worker_batch", record.worker_batch},
                            {"workers_before", record.workers_before},
                            {"workers", record.workers},
                            {"seconds", record.seconds},
                            {"drain_seconds", record.drain_seconds},
                            {"agree_seconds", record.agree_seconds},
                            {"state_seconds", record.state_seconds},
                            {"begin_seconds", record.begin_seconds}});
}

void Recorder::checkpoint(const CheckpointRecord& record) {
  journal_.write("checkpoint", {{"step", record.step}, {"directory", record.directory.filename().string()}, {"seconds", record.seconds}});
  journal_.sync();
}

void Recorder::test(const Score& score) {
  journal_.write("test", {{"step", step_}, {"samples", score.samples}, {"loss", score.loss}, {"accuracy", score.accuracy}});
}

}  // namespace trireme::train
