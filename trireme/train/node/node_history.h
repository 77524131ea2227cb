// SPDX-License-Identifier: Apache-2.0
// What a node did, for the checker of tests/faults: every step with its samples and the weights after it.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/coord/generation.h"
#include "trireme/observe/journal.h"
#include "trireme/train/loop/trainer.h"

namespace trireme::train {

// Lines are with the system before the next thing happens, so they survive the process. Without a folder it does nothing. handed()
// may be called by another thread.
class NodeHistory {
 public:
  NodeHistory(const std::filesystem::path& folder, const std::string& node);

  struct Joined {
    int root = 0;              // rank whose state it was
    std::int64_t samples = 0;  // of an epoch
    std::int64_t batch_size = 1;
  };
  void joined(const coord::Generation& generation, const Trainer& trainer, const Joined& how);
  void stepped(const Trainer& trainer);  // after a step, or after the evaluation that ends an epoch
  PushEvents push_events();              // empty without a folder; may be called by other threads
  void handed(std::int64_t step);
  void broken(std::int64_t step, std::string_view cause);
  void ended(std::string_view reason);

 private:
  void write(std::string_view type, const observe::Fields& fields);

  std::optional<observe::Journal> journal_;
  std::atomic<std::int64_t> generation_ = 0;
  std::int64_t last_step_ = -1;
  bool by_lease_ = false;  // as it was joined: a trainer that could not enter a team has no strategy to ask
};

}  // namespace trireme::train
