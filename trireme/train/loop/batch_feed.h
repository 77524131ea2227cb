// SPDX-License-Identifier: Apache-2.0
// A worker's batches, from where the cursor stands on: made ahead, and made anew from another place when that is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "trireme/base/clock.h"
#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/job.h"
#include "trireme/train/loop/work_group.h"

namespace trireme::train {

class BatchFeed {
 public:
  // All must outlive the feed.
  struct Setup {
    const Job& job;
    const data::DataSets& data;
    const Clock& clock;
    const Cursor& cursor;
    const WorkGroup& group;
    const std::function<bool()>& gives_up;  // see data::StreamOptions
  };
  // Instead of this worker's share of each batch: places as they are leased.
  struct Leases {
    std::int64_t size = 1;  // most samples of one
    std::function<std::optional<data::Place>()> next;
    std::function<void(bool reads)> waits_on;
  };
  explicit BatchFeed(const Setup& setup, std::optional<Leases> leases = {}) : setup_(setup), leases_(std::move(leases)) {}

  bool is_open() const { return stream_.has_value(); }
  void open();
  void close() { stream_.reset(); }
  const data::Batch* next() { return stream_->next(); }  // only when it is open

  data::StreamTimes times() const { return stream_->times(); }  // since it was opened
  data::StreamTimes take_epoch_times();                         // since the last call, if it was not closed in between

 private:
  Setup setup_;
  std::optional<Leases> leases_;
  std::optional<data::BatchStream> stream_;
  data::StreamTimes taken_;
};

}  // namespace trireme::train
