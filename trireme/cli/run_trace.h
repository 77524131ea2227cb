// SPDX-License-Identifier: Apache-2.0
// One trace of all nodes of a run: profiled steps in every detail, the others as far as steps/NODE.csv has them, events of the journal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trireme/train/checkpoint/run_directory.h"

namespace trireme::cli {

struct StepRange {
  std::int64_t first = 0, last = 0;  // both included
};

struct TraceOrder {
  std::filesystem::path file;
  std::optional<StepRange> steps;  // only these; without it all that are profiled, and the last `most_steps` of each node
  std::int64_t most_steps = 2000;
};

struct TraceFacts {
  std::int64_t events = 0;
  std::int64_t nodes = 0;
  std::int64_t messages = 0;  // with both ends
  std::int64_t profiled_spans = 0;
  std::int64_t dropped_spans = 0;  // by nodes that had too many
  double clock_uncertainty = 0;    // seconds: the largest of all nodes
  double clock_shift = 0;          // the largest that messages asked for beyond the correction
};

// Throws not_found if the run has neither steps nor profiles.
TraceFacts write_trace(const train::RunDirectory& run, const TraceOrder& order);

}  // namespace trireme::cli
