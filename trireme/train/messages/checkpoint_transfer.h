// SPDX-License-Identifier: Apache-2.0
// Checkpoints on their way: a worker hands one in for the coordinator's side to keep, or asks for the one to begin with.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "trireme/train/checkpoint/checkpoint.h"

namespace trireme::wire {
class Piece;
}

namespace trireme::train {

// The coordinator's side, called by handlers on any thread.
class CheckpointDesk {
 public:
  // `keep` gets each checkpoint that has come in whole, and what it throws is thrown at the worker. True: it is on disk, and is what
  // workers begin with. False: the disk refused it; the worker need not hand it in again.
  CheckpointDesk(std::int64_t most_bytes, std::function<bool(Checkpoint)> keep);

  void offer(const Checkpoint& checkpoint);  // for workers to begin with
  // From here on nothing is kept that comes from another generation, also what was on its way.
  void begin_generation(std::uint64_t number);
  std::string put(const std::string& request);  // a piece; sent again, since the answer took too long, it changes nothing
  std::string get(const std::string& request);

 private:
  void receive(const wire::Piece& piece);
  std::string keep();  // the reply

  std::int64_t most_bytes_;
  std::function<bool(Checkpoint)> keep_;
  std::mutex mutex_;
  std::uint64_t generation_ = 0;
  std::string offered_;
  Position offered_position_;
  std::int64_t number_ = -1;  // of the one that is coming in, or came in last
  std::uint32_t checksum_ = 0;
  std::int64_t received_ = 0;  // bytes of it
  std::string reply_;          // to its last piece
  std::string incoming_;
};

// The worker's side: `call` sends a request to put or get and returns the reply.
using CallDesk = std::function<std::string(std::string request)>;
// In the name of the checkpoint's generation. True: it is on disk; false: the coordinator has it, but its disk refused it.
bool hand_in(const Checkpoint& checkpoint, const CallDesk& put);
// The newest that is kept, if that is further than `newer_than`.
std::optional<Checkpoint> ask_for(const Position& newer_than, const CallDesk& get);

}  // namespace trireme::train
