// SPDX-License-Identifier: Apache-2.0
// A worker's state of the training: its values, how far they have come, and what it counts for itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/job.h"
#include "trireme/train/team/replica.h"

namespace trireme::train {

// Which samples the last step in step with the others took, of all workers together.
struct LastBatch {
  std::int64_t epoch = 0;
  std::int64_t offset = 0;  // of its first sample in the epoch
  std::int64_t whole = 0;
  std::vector<double> shares;
};

// Continues from one team to the next. None of it is part of a checkpoint.
struct WorkerCounts {
  std::int64_t skips = 0;       // steps of this worker in a row that were skipped
  std::int64_t team_skips = 0;  // the same of all workers, at the lead of work by lease
  double samples = 0;           // by lease: since statistics were averaged
  std::int64_t steps = 0;       // of this node; in step with the others they are those of all
  double learning_rate = 0;     // of the last step
  LastBatch last_batch;
};

struct TrainingState {
  // Draws the initial values. `job` must outlive it.
  TrainingState(const Job& job, const std::filesystem::path& algorithm_cache)
      : replica(job, algorithm_cache), keeps_best(job.train.keep_best) {}

  Replica replica;
  Cursor cursor;
  std::int64_t lineage = -1;  // generation that the state was last shared in; -1: initial values, which count for nothing
  bool is_whole = true;       // this node has all of the state, not only what servers lent it
  WorkerCounts counts;
  bool keeps_best;                          // as the job says
  std::shared_ptr<const KeptWeights> best;  // of cursor.best_epoch; null: none

  Position position() const;  // nowhere without the whole state
  void reset();               // to the initial values
  void keep_as_best();        // the weights as they are now, if the job keeps any
  // Throws failed_precondition if the checkpoint is of another optimizer, or stands beyond an epoch of `samples`.
  void restore(Checkpoint checkpoint, std::int64_t samples);
};

}  // namespace trireme::train
