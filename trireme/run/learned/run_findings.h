// SPDX-License-Identifier: Apache-2.0
// What a run keeps of what its network learned: evaluation.json, mistakes.json and examples.json.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/run/terminal/console.h"
#include "trireme/train/job/job.h"

namespace trireme::run {

inline constexpr const char* kEvaluationFile = "evaluation.json";
inline constexpr const char* kMistakesFile = "mistakes.json";
inline constexpr const char* kExamplesFile = "examples.json";

// All must outlive it.
struct RunFindings {
  const train::Job& job;
  const data::DataSets& data;
  std::filesystem::path algorithms;  // the engine's choices
  const Clock& clock;
  std::function<void(const std::string& file, const std::string& text)> write;
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
};

// The first samples of the training, as the network sees them.
void write_examples(const RunFindings& findings);

// Scores of the checkpoint, with the weights of its best epoch if it has them, on the test samples, or on the validation samples; nothing
// if there are none of either. Takes at most observe.evaluation_seconds; a signal in `stop` ends it. Returns a line for people, which may
// be empty.
std::string write_evaluation(const RunFindings& findings, const std::filesystem::path& checkpoint, const std::atomic<int>& stop);

}  // namespace trireme::run
