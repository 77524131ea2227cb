// SPDX-License-Identifier: Apache-2.0
// Options of a stream, by the job and by where the cursor stands.
#include "trireme/train/loop/batch_feed.h"

#include <utility>

#include "trireme/data/pipeline/transform.h"

namespace trireme::train {

void BatchFeed::open() {
  const Job& job = setup_.job;
  const data::PipelineOptions& pipeline = job.data.pipeline;
  data::StreamOptions options{.batch_size = job.train.batch_size,
                              .seed = static_cast<std::uint64_t>(job.train.seed),
                              .shuffle = pipeline.shuffle,
                              .interleave = pipeline.interleave,
                              .threads = pipeline.threads,
                              .prefetch = pipeline.prefetch,
                              .epochs = job.train.epochs,
                              .first_epoch = setup_.cursor.epoch,
                              .first_offset = setup_.cursor.epoch_offset,
                              .shares = setup_.group.shares,
                              .rank = setup_.group.team.rank(),
                              .gives_up = setup_.gives_up};
  if (leases_) {
    options.shares.clear();
    options.batch_size = leases_->size;
    options.prefetch = 1;  // a lease that waits here can't be done by a worker that is faster
    options.places = leases_->next;
    options.waits_on = leases_->waits_on;
  }
  const data::SampleFormat& format = setup_.data.train->format();
  stream_.emplace(setup_.data.train, data::Transform(format, setup_.data.normalization, job.data.augment), options, setup_.clock);
  taken_ = {};
}

data::StreamTimes BatchFeed::take_epoch_times() {
  const data::StreamTimes before = taken_;
  if (stream_) taken_ = stream_->times();
  return {.background_seconds = taken_.background_seconds - before.background_seconds,
          .read_seconds = taken_.read_seconds - before.read_seconds,
          .decode_seconds = taken_.decode_seconds - before.decode_seconds,
          .wait_seconds = taken_.wait_seconds - before.wait_seconds};
}

}  // namespace trireme::train
