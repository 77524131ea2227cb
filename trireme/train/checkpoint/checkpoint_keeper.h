// SPDX-License-Identifier: Apache-2.0
// Keeps a run's checkpoints on a disk that may be full: one that can't be written is reported, stays in memory, and can be tried again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// All calls may come from any thread, and wait for one another. Whatever fails, the checkpoints that are on disk stay as they are.
class CheckpointKeeper {
 public:
  struct Refusal {
    std::int64_t step = 0;
    std::string reason;            // the system's, with the file
    std::int64_t tries = 0;        // in a row, this one included
    std::filesystem::path newest;  // on disk; empty: there is none
  };
  struct Recovery {
    std::int64_t tries = 0;  // that had failed
    Seconds seconds{};       // since the first of them
  };
  struct Events {
    std::function<void(const Refusal&)> refused;
    std::function<void(const Checkpoint&, const CheckpointRecord&)> written;  // on disk, under its name; may be empty
    std::function<void(const Recovery&)> recovered;                           // after written()
  };
  // All must outlive it.
  CheckpointKeeper(const CheckpointStore& store, const Clock& clock, Events events)
      : store_(store), clock_(clock), events_(std::move(events)) {}

  // As the store does.
  std::optional<CheckpointStore::Loaded> load_newest();
  // None: the system refused to write it. Any other fault is thrown.
  std::optional<CheckpointRecord> save(Checkpoint checkpoint);
  // Tries again what save() could not write last. None: there is no such checkpoint, or it was refused again.
  std::optional<CheckpointRecord> retry();
  // It is not to be tried again: a newer one replaces it.
  void drop();
  std::optional<Refusal> refusal() const;  // of the checkpoint that waits; none: the last one is on disk

 private:
  std::optional<CheckpointRecord> write(Checkpoint checkpoint);

  const CheckpointStore& store_;
  const Clock& clock_;
  const Events events_;
  mutable std::mutex mutex_;
  std::optional<Checkpoint> unwritten_;
  Refusal refusal_;
  std::filesystem::path newest_;
  std::int64_t tries_ = 0;  // that failed, in a row
  Seconds failing_since_{};
};

}  // namespace trireme::train
