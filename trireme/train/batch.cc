// SPDX-License-Identifier: Apache-2.0
// Gathers a batch.
#include "trireme/train/batch.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::train {

Batch::Batch(const data::SampleSet& samples, std::int64_t batch_size)
    : samples_(samples),
      values_(static_cast<std::size_t>(batch_size * samples.shape.count())),
      labels_(static_cast<std::size_t>(batch_size)),
      keys_(labels_.size()) {}

engine::BatchView Batch::fill(std::span<const std::int64_t> indices, std::uint64_t key_root) {
  ensure(indices.size() <= labels_.size(), "a batch is filled with more samples than it was made for");
  const auto count = static_cast<std::size_t>(samples_.shape.count());
  for (std::size_t row = 0; row < indices.size(); ++row) {
    std::ranges::copy(samples_.sample(indices[row]), values_.begin() + static_cast<std::ptrdiff_t>(row * count));
    labels_[row] = samples_.labels[static_cast<std::size_t>(indices[row])];
    keys_[row] = combine(key_root, static_cast<std::uint64_t>(indices[row]));
  }
  return {.size = static_cast<std::int64_t>(indices.size()),
          .inputs = {std::span(values_).first(indices.size() * count)},
          .labels = std::span(labels_).first(indices.size()),
          .sample_keys = std::span(keys_).first(indices.size())};
}

}  // namespace trireme::train
