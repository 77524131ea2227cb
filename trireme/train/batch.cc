// SPDX-License-Identifier: Apache-2.0
// Gathers a batch.
#include "trireme/train/batch.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::train {

Batch::Batch(const data::Source& samples, std::int64_t batch_size)
    : samples_(samples),
      stored_(samples.format().sample_bytes()),
      values_(static_cast<std::size_t>(batch_size * samples.format().shape.count())),
      labels_(static_cast<std::size_t>(batch_size)),
      keys_(labels_.size()) {}

engine::BatchView Batch::fill(std::span<const std::int64_t> indices, std::uint64_t key_root) {
  ensure(indices.size() <= labels_.size(), "a batch is filled with more samples than it was made for");
  const auto count = static_cast<std::size_t>(samples_.format().shape.count());
  for (std::size_t row = 0; row < indices.size(); ++row) {
    samples_.read(indices[row], stored_);
    std::ranges::transform(stored_, values_.begin() + static_cast<std::ptrdiff_t>(row * count),
                           [](std::byte v) { return static_cast<float>(v) / 255; });
    labels_[row] = samples_.label(indices[row]);
    keys_[row] = combine(key_root, static_cast<std::uint64_t>(indices[row]));
  }
  return {.size = static_cast<std::int64_t>(indices.size()),
          .inputs = {std::span(values_).first(indices.size() * count)},
          .labels = std::span(labels_).first(indices.size()),
          .sample_keys = std::span(keys_).first(indices.size())};
}

}  // namespace trireme::train
