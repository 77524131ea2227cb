// SPDX-License-Identifier: Apache-2.0
// How long a training takes on this machine, and how much memory, by a few of its steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "trireme/inspect/recipe.h"

namespace trireme::inspect {

struct Estimate {
  double step_seconds = 0;
  double epoch_seconds = 0;  // with the check after it
  double bytes = 0;          // samples kept in memory, weights, and what a step needs
  int threads = 1;
  std::int64_t timed_steps = 0;

  // "about 3 minutes with 2 threads, and 210 MiB for samples and network; by 5 steps timed here, reading the files not included"
  std::string text(std::int64_t epochs) const;
};

struct EngineRequest {
  int threads = 0;                          // 0: all cores
  std::filesystem::path algorithm_cache{};  // where choices of algorithms are remembered; empty: nowhere
};

// Compiles the recipe's network and makes steps on zeros for about half a second.
Estimate estimate(const Inspection& inspection, const Recipe& recipe, const EngineRequest& engine);

}  // namespace trireme::inspect
