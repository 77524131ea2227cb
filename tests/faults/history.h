// SPDX-License-Identifier: Apache-2.0
// What all processes of a training wrote into their event journals (--events), read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/observe/journal_reader.h"

namespace trireme::tests {

// The journal of one process.
struct ProcessLog {
  std::string file;  // its name
  std::string node;  // empty: a coordinator
  std::vector<observe::Record> records;

  bool is_coordinator() const { return node.empty(); }
  double begin() const { return records.front().time; }
};

struct History {
  std::vector<ProcessLog> coordinators;  // in the order of their beginning
  std::vector<ProcessLog> nodes;
};

// All journals of the folder; may be called while they are written. An empty journal is left out.
History read_history(const std::filesystem::path& folder);

// Where a training stands by its journals.
struct Standing {
  std::int64_t generation = 0;  // the newest announced
  std::int64_t step = 0;        // the newest that any node has done
  std::int64_t committed = -1;  // step of the newest checkpoint
};
Standing standing(const History& history);

// What became of a fault that happened at `since` (seconds since 1970), when `generation` held.
struct Recovery {
  std::optional<double> detected;          // seconds until a coordinator noted that a node is gone
  std::optional<double> recovered;         // seconds until the first step of a later generation
  std::optional<std::int64_t> lost_steps;  // done in the old generation, and again in the new one
};
Recovery recovery(const History& history, double since, std::int64_t generation);

// Seconds since 1970, as journals have them.
double wall_time();

}  // namespace trireme::tests
