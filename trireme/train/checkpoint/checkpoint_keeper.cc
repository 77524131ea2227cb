// SPDX-License-Identifier: Apache-2.0
// One try after another.
#include "trireme/train/checkpoint/checkpoint_keeper.h"

#include <utility>

#include "trireme/base/files.h"

namespace trireme::train {

std::optional<CheckpointStore::Loaded> CheckpointKeeper::load_newest() {
  std::optional<CheckpointStore::Loaded> loaded = store_.load_newest();
  const std::lock_guard lock(mutex_);
  if (loaded) newest_ = loaded->directory;
  return loaded;
}

std::optional<CheckpointRecord> CheckpointKeeper::save(Checkpoint checkpoint) {
  const std::lock_guard lock(mutex_);
  unwritten_.reset();
  return write(std::move(checkpoint));
}

std::optional<CheckpointRecord> CheckpointKeeper::retry() {
  const std::lock_guard lock(mutex_);
  if (!unwritten_) return std::nullopt;
  Checkpoint checkpoint = std::move(*unwritten_);
  unwritten_.reset();
  return write(std::move(checkpoint));
}

std::optional<CheckpointRecord> CheckpointKeeper::write(Checkpoint checkpoint) {
  const Seconds start = clock_.now();
  try {
    newest_ = store_.save(checkpoint);
  } catch (const SystemError& error) {  // the disk's, which may have room again later
    if (tries_++ == 0) failing_since_ = start;
    refusal_ = {.step = checkpoint.cursor.step, .reason = error.what(), .tries = tries_, .newest = newest_};
    unwritten_ = std::move(checkpoint);
    events_.refused(refusal_);
    return std::nullopt;
  }
  const CheckpointRecord record{.step = checkpoint.cursor.step, .directory = newest_, .seconds = (clock_.now() - start).count()};
  if (events_.written) events_.written(checkpoint, record);
  if (const std::int64_t tries = std::exchange(tries_, 0); tries > 0)
    events_.recovered({.tries = tries, .seconds = clock_.now() - failing_since_});
  return record;
}

void CheckpointKeeper::drop() {
  const std::lock_guard lock(mutex_);
  unwritten_.reset();
}

std::optional<CheckpointKeeper::Refusal> CheckpointKeeper::refusal() const {
  const std::lock_guard lock(mutex_);
  return unwritten_ ? std::optional(refusal_) : std::nullopt;
}

}  // namespace trireme::train
