// SPDX-License-Identifier: Apache-2.0
// Whole batches from where the stream begins; the last of an epoch may be smaller.
#include "trireme/data/pipeline/places.h"

#include <algorithm>

namespace trireme::data {

EpochPlaces::EpochPlaces(const StreamOptions& options, std::int64_t samples)
    : samples_(samples),
      batch_size_(options.batch_size),
      epochs_(options.epochs),
      epoch_(options.first_epoch),
      offset_(options.first_offset) {}

std::optional<Place> EpochPlaces::next() {
  if (offset_ >= samples_) {
    ++epoch_;
    offset_ = 0;
  }
  if (epochs_ > 0 && epoch_ >= epochs_) return std::nullopt;
  const Place place{.epoch = epoch_, .begin = offset_, .end = std::min(offset_ + batch_size_, samples_)};
  offset_ = place.end;
  return place;
}

}  // namespace trireme::data
