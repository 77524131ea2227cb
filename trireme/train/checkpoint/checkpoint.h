// SPDX-License-Identifier: Apache-2.0
// A training's state on disk: safetensors files, a manifest and their checksums, written completely or not at all.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/data/pipeline/transform.h"
#include "trireme/graph/graph.h"

namespace trireme::train {

// Where a training stands, between two steps.
struct Cursor {
  std::int64_t step = 0;
  std::int64_t samples_seen = 0;
  std::int64_t epoch = 0;         // the one the next step belongs to
  std::int64_t epoch_offset = 0;  // samples of it already seen
  // Sums over the epoch so far, so that its record does not depend on an interruption.
  std::int64_t correct = 0;
  std::int64_t left_out = 0;  // samples that are not in them: their steps were skipped
  double loss_sum = 0;
  double penalty = 0;
  double epoch_seconds = 0;
  double train_seconds = 0;  // of all steps so far
  // Early stopping.
  double best = 0;               // value of what is watched
  std::int64_t best_epoch = -1;  // none yet
  // Strategies.
  std::int64_t phase = 0;       // of the plan, in which this state was made
  std::int64_t slots_from = 0;  // step after which the optimizer's slots began at zero; one later for each step since that was skipped
};

// Of two states the one of the later generation counts: what others did in an earlier one is a past that was given up. In one
// generation it is the one that came further.
struct Position {
  std::int64_t generation = -1;  // -1: nowhere
  std::int64_t step = -1;
  std::int64_t epoch = 0;                             // between two steps an epoch may end
  auto operator<=>(const Position&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes its 0 for a pointer
};

// Weights that are kept beside those that go on being trained.
struct KeptWeights {
  std::vector<float> parameters;
  std::vector<float> states;
};

struct Checkpoint {
  Cursor cursor;
  std::int64_t generation = 0;
  Position position() const { return {.generation = generation, .step = cursor.step, .epoch = cursor.epoch}; }
  std::vector<float> parameters;
  std::vector<float> states;
  std::vector<std::vector<float>> slots;  // of the optimizer, each the size of parameters
  std::vector<std::string> slot_names;
  int rank = 0;  // of the worker whose state it is; not kept
  // What prediction needs to know of the data.
  data::Normalization normalization;
  std::vector<std::string> class_names;
  std::shared_ptr<const KeptWeights> best;  // of cursor.best_epoch; null: none were kept
};

// The checkpoints of a run: directory/step-00000123/{model.safetensors, optimizer.safetensors, manifest.json, SHA256SUMS}, and
// best.safetensors if there are weights of a best epoch. The last two are kept. `graph` names the tensors; a checkpoint of another model is
// refused. One process writes at a time (RunDirectory::lock).
class CheckpointStore {
 public:
  // Called when a checkpoint of so many bytes begins to be written; what it returns lives until that is done or has failed.
  using WatchWrite = std::function<std::shared_ptr<void>(std::int64_t bytes)>;
  CheckpointStore(std::filesystem::path directory, const graph::Graph& graph, WatchWrite watch = {});

  // Writes to a temporary name, syncs, renames, syncs the directory, then removes all but this one and the one before it: also later
  // ones, which a resumption from an earlier step has left behind. Returns its directory. If it fails, the ones before are as they were.
  std::filesystem::path save(const Checkpoint& checkpoint) const;

  struct Loaded {
    Checkpoint checkpoint;
    std::filesystem::path directory;
    std::vector<std::string> warnings;  // one for each newer checkpoint that was damaged: what is wrong with it
  };
  // The newest good one: every checksum is verified before a weight is used. Empty if there is no checkpoint at all; data_loss if
  // there are some but none is good. One of another model, or of a newer Trireme, is not damaged: failed_precondition.
  std::optional<Loaded> load_newest() const;

 private:
  std::filesystem::path directory_;
  const graph::Graph& graph_;
  WatchWrite watch_;
};

// A single checkpoint directory, as `trireme eval RUN/checkpoints/step-...` names it.
Checkpoint load_checkpoint(const std::filesystem::path& directory, const graph::Graph& graph);

// Puts the weights of the best epoch in the place of the last ones; false if it has none.
bool use_best(Checkpoint& checkpoint);

}  // namespace trireme::train
