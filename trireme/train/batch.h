// SPDX-License-Identifier: Apache-2.0
// Chosen samples of a set, copied together for the engine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/data/source.h"
#include "trireme/engine/executor.h"

namespace trireme::train {

class Batch {
 public:
  Batch(const data::Source& samples, std::int64_t batch_size);

  // `key_root` and a sample's index give its random stream. The view is good until the next call.
  engine::BatchView fill(std::span<const std::int64_t> indices, std::uint64_t key_root);

 private:
  const data::Source& samples_;
  std::vector<std::byte> stored_;
  std::vector<float> values_;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace trireme::train
