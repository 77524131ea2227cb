// SPDX-License-Identifier: Apache-2.0
// Hands in checkpoints behind the training's back, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <string>

#include "trireme/coord/membership.h"
#include "trireme/train/checkpoint/checkpoint.h"

namespace trireme::train {

// A checkpoint that the coordinator's disk refuses is the coordinator's, which has it then. What else prevents that it is kept is reported
// there, too; only of the last one, which must not be missing, this node wants to know.
class Uploader {
 public:
  // `handed` is called by another thread, when one is on disk.
  Uploader(coord::Membership& membership, std::function<void(std::int64_t step)> handed)
      : membership_(membership), handed_(std::move(handed)) {}

  void begin(Checkpoint checkpoint);
  bool is_busy() const;  // one is under way
  void finish() {
    if (running_.valid()) running_.get();
  }
  void settle();  // waits for what is under way, however it ends

 private:
  std::string put(const std::string& piece, std::uint64_t generation);

  coord::Membership& membership_;
  std::function<void(std::int64_t)> handed_;
  Position position_;
  std::future<void> running_;
};

}  // namespace trireme::train
