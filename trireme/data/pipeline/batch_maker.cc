// SPDX-License-Identifier: Apache-2.0
// Samples from the order of the epoch, random keys from epoch and sample.
#include "trireme/data/pipeline/batch_maker.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/base/random.h"
#include "trireme/data/pipeline/interleave.h"
#include "trireme/data/source/division.h"
#include "trireme/data/source/permutation.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kTimedSample = 16;  // one in so many: a small sample is read in less time than the clock takes

void check(std::string_view name, std::int64_t value, std::int64_t least) {
  if (value < least) throw Error{invalid_argument, "{} = {} is below {}", name, value, least};
}

void check(const Source& source, const StreamOptions& o) {
  if (source.size() < 1) throw Error{invalid_argument, "no sample to make batches of; look at the data set, its split and its shards"};
  check("batch_size", o.batch_size, 1);
  check("interleave", o.interleave, 1);
  check("threads", o.threads, 0);
  check("prefetch", o.prefetch, o.threads > 0 ? 1 : 0);
  check("epochs", o.epochs, 0);
  ensure(o.first_epoch >= 0 && o.first_offset >= 0 && o.first_offset <= source.size(), "a stream begins within an epoch");
}

}  // namespace

std::uint64_t sample_key(std::uint64_t seed, std::int64_t epoch, std::int64_t index) {
  return combine(combine(seed, static_cast<std::uint64_t>(epoch)), static_cast<std::uint64_t>(index));
}

BatchMaker::BatchMaker(std::shared_ptr<const Source> source, Transform transform, StreamOptions options)
    : source_(std::move(source)), transform_(std::move(transform)), options_(std::move(options)) {
  check(*source_, options_);
}

Batch BatchMaker::empty_batch() const {
  const SampleFormat& format = source_->format();
  const auto most = static_cast<std::size_t>(std::min(options_.batch_size, source_->size()));  // a worker's part may be all of it
  Batch batch;
  batch.values.reserve(most * static_cast<std::size_t>(format.shape.count()));
  batch.targets.reserve(most * static_cast<std::size_t>(format.targets));
  batch.labels.reserve(format.classes > 0 ? most : 0);
  batch.keys.reserve(most);
  return batch;
}

double BatchMaker::make(const Place& place, Batch& batch, std::span<std::byte> stored, const std::stop_token& stop, const Clock& clock) {
  set_size(place, batch);
  const std::shared_ptr<const Order> order = order_of(place.epoch);
  const auto extent = static_cast<std::size_t>(source_->format().shape.count());
  double seconds = 0;
  std::int64_t timed = 0;
  for (std::int64_t i = 0; i < batch.size && !stop.stop_requested(); ++i) {
    const std::int64_t index = order->at(batch.offset + i);
    const auto at = static_cast<std::size_t>(i);
    label_sample(index, at, batch);
    const bool is_timed = i % kTimedSample == 0;
    const Seconds start = is_timed ? clock.now() : Seconds(0);
    failpoint("data.read");
    source_->read(index, stored);
    if (stop.stop_requested()) break;  // the caller that wanted it, and its clock, may be gone
    if (is_timed) seconds += (clock.now() - start).count();
    timed += is_timed ? 1 : 0;
    transform_.apply(stored, batch.keys[at], std::span(batch.values).subspan(at * extent, extent));
  }
  return timed > 0 ? seconds * static_cast<double>(batch.size) / static_cast<double>(timed) : 0;
}

void BatchMaker::set_size(const Place& place, Batch& batch) const {
  batch.epoch = place.epoch;
  batch.lease = place.lease;
  batch.whole = place.end - place.begin;
  ensure(place.epoch >= 0 && place.begin >= 0 && batch.whole >= 0 && batch.whole <= options_.batch_size && place.end <= source_->size(),
         "a place is within its epoch and no larger than a batch");
  batch.last_of_epoch = place.end == source_->size();
  const Range part = options_.shares.empty() ? Range{0, batch.whole} : part_of(batch.whole, options_.shares, options_.rank);
  batch.offset = place.begin + part.begin;
  batch.size = part.size();
  const SampleFormat& format = source_->format();
  const auto size = static_cast<std::size_t>(batch.size);
  batch.values.resize(size * static_cast<std::size_t>(format.shape.count()));
  batch.targets.resize(size * static_cast<std::size_t>(format.targets));
  batch.labels.resize(format.classes > 0 ? size : 0);
  batch.keys.resize(size);
}

void BatchMaker::label_sample(std::int64_t index, std::size_t place, Batch& batch) const {
  const SampleFormat& format = source_->format();
  const std::uint64_t key = sample_key(options_.seed, batch.epoch, index);
  batch.keys[place] = key;
  if (format.classes > 0) batch.labels[place] = source_->label(index);
  const auto targets = static_cast<std::size_t>(format.targets);
  if (targets > 0) std::ranges::copy(source_->target(index), batch.targets.begin() + static_cast<std::ptrdiff_t>(place * targets));
}

std::shared_ptr<const BatchMaker::Order> BatchMaker::order_of(std::int64_t epoch) {
  if (!options_.shuffle) epoch = 0;  // all epochs are alike
  std::shared_ptr<Order> order;
  {
    const std::lock_guard lock(mutex_);
    auto known = std::ranges::find(orders_, epoch, &decltype(orders_)::value_type::first);
    if (known == orders_.end()) known = orders_.insert(orders_.end(), {epoch, std::make_shared<Order>()});
    order = known->second;
    std::rotate(orders_.begin(), known, known + 1);
    // Threads are rarely at more than two epochs; one that comes later still computes its order again.
    if (orders_.size() > 2) orders_.resize(2);
  }
  std::call_once(order->computed, [&] { order->samples = compute_order(epoch); });
  return order;
}

std::vector<std::int64_t> BatchMaker::compute_order(std::int64_t epoch) const {
  if (options_.shuffle) return epoch_permutation(source_->size(), options_.seed, epoch);
  if (options_.interleave == 1) return {};
  return interleaved_order(source_->file_starts(), source_->size(), options_.interleave);
}

}  // namespace trireme::data
