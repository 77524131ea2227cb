// SPDX-License-Identifier: Apache-2.0
// The desk for checkpoints, and a run.
#include "trireme/train/conductor/conductor.h"

#include <utility>

#include "trireme/train/conductor/conducting.h"

namespace trireme::train {

Conductor::Conductor(std::int64_t most_checkpoint_bytes, std::function<CheckpointRecord(Checkpoint)> keep, const Clock& clock)
    : clock_(clock), keep_(std::move(keep)), desk_(most_checkpoint_bytes, [this](Checkpoint checkpoint) {
        try {
          note({.record = keep_(std::move(checkpoint)), .trouble = {}});
        } catch (const Error& error) {
          note({.record = {}, .trouble = error});
          throw;  // as what it is: the worker must not take a full disk here for a peer that is gone
        }
      }) {}

void Conductor::note(Kept kept) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(kept));
}

std::vector<Conductor::Kept> Conductor::taken() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_, {});
}

std::vector<coord::Coordinator::Method> Conductor::methods() {
  using Callers = coord::Coordinator::Method::Callers;
  return {{.name = std::string(kPutCheckpoint),
           .callers = Callers::members,
           .handler = [this](const std::string&, const std::string& request) { return desk_.put(request); }},
          {.name = std::string(kGetCheckpoint),
           .callers = Callers::members,
           .handler = [this](const std::string&, const std::string& request) { return desk_.get(request); }},
          {.name = std::string(kSwitchMethod),
           .callers = Callers::users,
           .handler = [this](const std::string&, const std::string& request) { return accept(unpack_wish(request)); }}};
}

std::string Conductor::accept(SwitchWish wish) {
  parse_team_strategy(wish.to, "--to");
  const std::lock_guard lock(mutex_);
  wishes_.push_back(std::move(wish));
  return "";
}

std::vector<SwitchWish> Conductor::taken_wishes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wishes_, {});
}

SessionResult Conductor::run(coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
                             const std::atomic<int>& stop) {
  return Conducting(*this, coordinator, options, observer, stop).run();
}

}  // namespace trireme::train
