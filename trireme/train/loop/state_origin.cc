// SPDX-License-Identifier: Apache-2.0
// Positions of all workers, and the broadcast of the furthest state.
#include "trireme/train/loop/state_origin.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "trireme/base/failpoint.h"

namespace trireme::train {

int StateOrigin::phase_of_servers(std::int64_t last_generation) {
  const std::vector<double> seen = team_.gather(static_cast<double>(last_generation));
  const bool is_awake = static_cast<double>(last_generation) >= *std::ranges::max_element(seen);
  const std::vector<double> phases = team_.gather(is_awake && !state_.is_whole ? static_cast<double>(state_.cursor.phase) : -1);
  return static_cast<int>(*std::ranges::max_element(phases));
}

// The state is where it was; only the place in it must be sent to nodes that are new.
Origin StateOrigin::resume(int lead) {
  Cursor cursor = state_.cursor;
  team_.broadcast(std::span(&cursor, 1), lead);
  team_.average(state_.replica.states(), state_.lineage >= 0 ? 1 : 0);
  state_.best = share_best(cursor);
  state_.cursor = cursor;
  state_.is_whole = false;
  return {.root = lead};
}

Origin StateOrigin::share_furthest(const Committed& committed) {
  if (!state_.is_whole) state_.reset();  // what this node has is not the whole state any more
  const Origin origin = find(committed);
  synchronize(origin);
  return origin;
}

Position StateOrigin::furthest_worker(int& rank) {
  const Position own = state_.position();
  const std::vector<double> generations = team_.gather(static_cast<double>(own.generation));
  const std::vector<double> steps = team_.gather(static_cast<double>(own.step));
  const std::vector<double> epochs = team_.gather(static_cast<double>(own.epoch));
  Position best;
  for (int i = 0; i < team_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Position there{.generation = std::llround(generations[at]), .step = std::llround(steps[at]), .epoch = std::llround(epochs[at])};
    if (there <= best) continue;
    best = there;
    rank = i;
  }
  return best;
}

Origin StateOrigin::find(const Committed& committed) {
  Origin origin;
  const Position furthest = furthest_worker(origin.root);
  origin.averages_statistics = furthest > Position{};
  const std::vector<double> same = team_.gather(handover_.is_clean() && state_.position() == furthest ? 1 : 0);
  origin.is_everywhere = std::ranges::all_of(same, [](double has) { return has > 0; });
  if (team_.rank() == 0 && committed) {
    if (auto checkpoint = committed(furthest)) {
      state_.restore(std::move(*checkpoint), samples_);
      handover_.on_state_changed();
      origin = {.root = 0, .averages_statistics = false};
    }
  }
  team_.broadcast(std::span(&origin, 1), 0);
  origin.weight = state_.position() == furthest ? handover_.statistics_weight() : 0;
  return origin;
}

// Received beside what this worker has, and taken over when all of it is here: a team that breaks in between leaves each worker with a
// state that is whole, be it the old one or the new.
void StateOrigin::synchronize(const Origin& origin) {
  if (team_.is_alone()) return;
  Replica& replica = state_.replica;
  const bool receives = team_.rank() != origin.root;
  const auto shared = [&](std::vector<float>& own) {
    std::vector<float> received(receives ? own.size() : 0);
    team_.broadcast(std::span(receives ? received : own), origin.root);
    return received;
  };
  Cursor cursor = state_.cursor;
  team_.broadcast(std::span(&cursor, 1), origin.root);
  if (receives) failpoint("state.cursor_received");
  std::vector<float> parameters;
  std::vector<std::vector<float>> slots;
  if (!origin.is_everywhere) {
    parameters = shared(replica.parameters());
    if (receives) failpoint("state.parameters_received");
    for (std::vector<float>& slot : replica.slots()) slots.push_back(shared(slot));
    if (receives) failpoint("state.slots_received");
  }
  // Each worker has its own statistics until the end of an epoch; those of all who came as far count.
  std::vector<float> states = replica.states();
  if (origin.averages_statistics)
    team_.average(states, origin.weight);
  else
    team_.broadcast(std::span(states), origin.root);
  std::shared_ptr<const KeptWeights> best = share_best(cursor);
  state_.cursor = cursor;
  state_.best = std::move(best);
  replica.states() = std::move(states);
  if (receives && !origin.is_everywhere) {
    replica.parameters() = std::move(parameters);
    replica.slots() = std::move(slots);
  }
  state_.lineage = static_cast<std::int64_t>(team_.generation());
}

// Of the epoch that `cursor`, which all workers have now, calls the best: the first worker that has them sends them to all.
std::shared_ptr<const KeptWeights> StateOrigin::share_best(const Cursor& cursor) {
  if (!state_.keeps_best || cursor.best_epoch < 0) return nullptr;
  const Cursor& own = state_.cursor;
  const bool has = state_.best != nullptr && own.best_epoch == cursor.best_epoch && own.best == cursor.best;
  const std::vector<double> all = team_.gather(has ? 1 : 0);
  const auto first = std::ranges::find(all, 1.0);
  if (first == all.end()) return nullptr;
  if (std::ranges::find(all, 0.0) == all.end()) return state_.best;
  KeptWeights weights{.parameters = std::vector<float>(state_.replica.parameters().size()),
                      .states = std::vector<float>(state_.replica.states().size())};
  if (has) weights = *state_.best;
  const int root = static_cast<int>(first - all.begin());
  team_.broadcast(std::span(weights.parameters), root);
  team_.broadcast(std::span(weights.states), root);
  return std::make_shared<const KeptWeights>(std::move(weights));
}

}  // namespace trireme::train
