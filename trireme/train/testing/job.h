// SPDX-License-Identifier: Apache-2.0
// Jobs of tests, and a memory of what a training reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/train/job/job.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// 300 samples in batches of 64: the last batch has 44. Text after it belongs to its last table, the optimizer's.
inline constexpr std::string_view kDigitsJob = R"(
[model]
name = "mlp_300_100"
[data]
name = "synthetic_digits"
samples = 300
test_samples = 100
[train]
epochs = 2
batch_size = 64
threads = 1
[train.optimizer]
name = "sgd"
learning_rate = 0.05
)";

// The job of `text`, with settings like "train.epochs=3".
inline Job job_with(std::string_view text, const std::vector<std::string>& settings = {}) {
  Config config = Config::parse_toml(text, "job.toml");
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    config.set(setting.substr(0, equals), setting.substr(equals + 1), "--set");
  }
  return job_from_config(config);
}

struct Memory final : Observer {
  void step(const StepRecord& record) override { steps.push_back(record); }
  void epoch(const EpochRecord& record) override { epochs.push_back(record); }
  void straggler(const StragglerRecord& record) override { stragglers.push_back(record); }
  void server(const ServerRecord& record) override { servers.push_back(record); }
  void switched(const SwitchRecord& record) override { switches.push_back(record); }

  std::vector<StepRecord> steps;
  std::vector<EpochRecord> epochs;
  std::vector<StragglerRecord> stragglers;
  std::vector<ServerRecord> servers;
  std::vector<SwitchRecord> switches;
};

}  // namespace trireme::train
