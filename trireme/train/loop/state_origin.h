// SPDX-License-Identifier: Apache-2.0
// Whose state the workers of a new team continue from, and its way to all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "trireme/train/loop/handover.h"
#include "trireme/train/loop/training_state.h"
#include "trireme/train/team/team.h"

namespace trireme::train {

// A checkpoint that is further than that, if there is one.
using Committed = std::function<std::optional<Checkpoint>(const Position& newer_than)>;

struct Origin {
  int root = 0;  // rank whose state it is
  bool averages_statistics = false;
  bool is_everywhere = false;  // all have the same parameters and slots
  double weight = 1;           // of this worker's statistics
};

// Lives while a team is entered. All workers make the same calls.
class StateOrigin {
 public:
  // Epochs of `samples`. All must outlive it.
  StateOrigin(TrainingState& state, Team& team, Handover& handover, std::int64_t samples)
      : state_(state), team_(team), handover_(handover), samples_(samples) {}

  // Phase of which servers hold the state, by nodes that were in the last generation before this one; -1: it is with the nodes.
  int phase_of_servers(std::int64_t last_generation);
  // Servers keep the state, and `lead` knows how far it has come.
  Origin resume(int lead);
  // The state of the worker that came furthest, or a checkpoint that is further still, becomes that of all.
  Origin share_furthest(const Committed& committed);

 private:
  Position furthest_worker(int& rank);
  Origin find(const Committed& committed);
  void synchronize(const Origin& origin);
  std::shared_ptr<const KeptWeights> share_best(const Cursor& cursor);

  TrainingState& state_;
  Team& team_;
  Handover& handover_;
  std::int64_t samples_;
};

}  // namespace trireme::train
