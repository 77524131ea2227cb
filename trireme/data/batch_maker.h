// SPDX-License-Identifier: Apache-2.0
// Makes the n-th batch of an endless row of epochs: a pure function of n, which any thread may call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "trireme/data/batch_stream.h"

namespace trireme::data {

class BatchMaker {
 public:
  BatchMaker(std::shared_ptr<const Source> source, Transform transform, const StreamOptions& options);

  // Numbers run on over epochs: first() is where the options begin, end() is one after the last, or out of reach.
  std::int64_t first() const { return first_; }
  std::int64_t end() const { return end_; }

  Batch empty_batch() const;  // with room for the largest
  std::size_t sample_bytes() const { return source_->format().sample_bytes(); }

  // Fills `batch` with batch `number`; `stored` has sample_bytes() for a sample on its way. Gives up once `stop` says so.
  void make(std::int64_t number, Batch& batch, std::span<std::byte> stored, const std::stop_token& stop);

 private:
  // Computed by the first thread that comes, without keeping threads of other epochs from working.
  struct Order {
    std::once_flag computed;
    std::vector<std::int64_t> samples;  // empty: as in the source
    std::int64_t at(std::int64_t place) const { return samples.empty() ? place : samples[static_cast<std::size_t>(place)]; }
  };

  std::shared_ptr<const Order> order_of(std::int64_t number);
  std::vector<std::int64_t> compute_order(std::int64_t epoch) const;
  void set_size(std::int64_t number, Batch& batch) const;
  void make_sample(std::int64_t index, std::size_t place, Batch& batch, std::span<std::byte> stored) const;

  std::shared_ptr<const Source> source_;
  Transform transform_;
  StreamOptions options_;
  std::int64_t batches_an_epoch_ = 0, first_ = 0, end_ = 0;

  std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<Order>> orders_;  // of the epochs at work
};

}  // namespace trireme::data
