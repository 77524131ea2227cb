// SPDX-License-Identifier: Apache-2.0
// Makes the batch of a place: a pure function of it, which any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "trireme/data/pipeline/batch_stream.h"

namespace trireme::data {

// Of a sample's random numbers in an epoch.
std::uint64_t sample_key(std::uint64_t seed, std::int64_t epoch, std::int64_t index);

class BatchMaker {
 public:
  BatchMaker(std::shared_ptr<const Source> source, Transform transform, StreamOptions options);

  Batch empty_batch() const;  // with room for the largest
  std::size_t sample_bytes() const { return source_->format().sample_bytes(); }

  // Fills `batch` with this worker's part of what lies at `place`; `stored` has sample_bytes() for a sample on its way. Gives up once
  // `stop` says so. Returns the seconds that reading took, measured at one sample in sixteen.
  double make(const Place& place, Batch& batch, std::span<std::byte> stored, const std::stop_token& stop, const Clock& clock);

 private:
  // Computed by the first thread that comes, without keeping threads of other epochs from working.
  struct Order {
    std::once_flag computed;
    std::vector<std::int64_t> samples;  // empty: as in the source
    std::int64_t at(std::int64_t place) const { return samples.empty() ? place : samples[static_cast<std::size_t>(place)]; }
  };

  std::shared_ptr<const Order> order_of(std::int64_t epoch);
  std::vector<std::int64_t> compute_order(std::int64_t epoch) const;
  void set_size(const Place& place, Batch& batch) const;
  void label_sample(std::int64_t index, std::size_t place, Batch& batch) const;

  std::shared_ptr<const Source> source_;
  Transform transform_;
  StreamOptions options_;

  std::mutex mutex_;
  std::vector<std::pair<std::int64_t, std::shared_ptr<Order>>> orders_;  // of the epochs last asked for, the latest first
};

}  // namespace trireme::data
