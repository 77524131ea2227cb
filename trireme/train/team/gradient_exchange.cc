// SPDX-License-Identifier: Apache-2.0
// Buckets are reduced strictly one after another: every worker must make the same calls in the same order, whatever its own
// backward finished first.
#include "trireme/train/team/gradient_exchange.h"

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"

namespace trireme::train {

std::vector<Bucket> plan_buckets(const ParameterSpace& space, std::int64_t bytes) {
  std::vector<Bucket> buckets;
  std::int64_t end = space.size();
  std::int64_t slices = 0;
  for (std::size_t i = space.slices().size(); i-- > 0;) {
    ++slices;
    const std::int64_t begin = space[i].offset;
    if (i > 0 && (end - begin) * static_cast<std::int64_t>(sizeof(float)) < bytes) continue;
    buckets.push_back({.begin = begin, .end = end, .slices = slices});
    end = begin;
    slices = 0;
  }
  return buckets;
}

GradientExchange::GradientExchange(comm::Communicator& communicator, const ParameterSpace& space, std::size_t head, const Options& options,
                                   const Clock& clock)
    : communicator_(communicator), options_(options), clock_(clock), head_(head) {
  buckets_ = plan_buckets(space, options.overlap ? options.bucket_bytes : std::int64_t{1} << 62);
  ensure(!buckets_.empty(), "a model has parameters");
  bucket_of_.resize(space.slices().size());
  std::size_t slice = bucket_of_.size();
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket)
    for (std::int64_t i = 0; i < buckets_[bucket].slices; ++i) bucket_of_[--slice] = bucket;
  if (options.overlap) thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void GradientExchange::begin(std::span<float> values, double weight) {
  const std::lock_guard lock(mutex_);
  values_ = values;
  weight_ = weight;
  missing_.clear();
  for (const Bucket& bucket : buckets_) missing_.push_back(bucket.slices);
  ++missing_.back();  // the head
  full_.resize(buckets_.size());
  complete_ = reduced_ = 0;
  seconds_ = 0;
  working_ = true;
}

void GradientExchange::ready(std::size_t slice) {
  const std::lock_guard lock(mutex_);
  const std::size_t bucket = bucket_of_[slice];
  if (--missing_[bucket] > 0) return;
  full_[bucket] = clock_.now().count();
  complete_one_more();
  changed_.notify_all();
}

// Both with the mutex.
void GradientExchange::complete_one_more() {
  if (complete_++ == reduced_) submitted_ = clock_.now();
}

void GradientExchange::reduced_one_more() {
  if (++reduced_ == complete_) seconds_ += (clock_.now() - submitted_).count();
}

double GradientExchange::finish() {
  std::unique_lock lock(mutex_);
  if (--missing_.back() == 0) {
    full_.back() = clock_.now().count();
    complete_one_more();
  }
  ensure(std::ranges::all_of(missing_, [](std::int64_t count) { return count == 0; }), "backward has reported every slice once");
  if (options_.overlap) {
    changed_.notify_all();
    changed_.wait(lock, [this] { return !working_; });  // bounded: each reduction has its timeout
  } else {
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      reduce(bucket);
      reduced_one_more();
    }
    working_ = false;
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return seconds_;
}

void GradientExchange::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return working_ && missing_[reduced_] == 0; })) {
    lock.unlock();
    std::exception_ptr error;
    try {
      reduce(reduced_);
    } catch (...) {  // on a background thread: finish() throws it
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    reduced_one_more();
    working_ = error == nullptr && reduced_ < buckets_.size();
    if (!working_) changed_.notify_all();
  }
}

void GradientExchange::reduce(std::size_t number) {
  const Bucket& bucket = buckets_[number];
  const double begin = clock_.now().count();
  const std::span<float> gradients =
      values_.subspan(head_ + static_cast<std::size_t>(bucket.begin), static_cast<std::size_t>(bucket.end - bucket.begin));
  const auto weight = static_cast<float>(weight_);
  for (float& value : gradients) value *= weight;
  const bool with_head = number + 1 == buckets_.size();
  if (with_head && options_.reduce.wire == comm::WireType::f32) {
    communicator_.all_reduce(values_.first(head_ + gradients.size()), options_.reduce, options_.timeout);
  } else {
    communicator_.all_reduce(gradients, options_.reduce, options_.timeout);
    // Counts would not survive 16 bits.
    if (with_head) communicator_.all_reduce(values_.first(head_), {}, options_.timeout);
  }
  failpoint("step.mid_allreduce");
  record_spans(number, begin);
}

// From when it was full, and the part of that in which it was its turn.
void GradientExchange::record_spans(std::size_t number, double begin) const {
  if (options_.spans == nullptr || !options_.spans->is_on()) return;
  const std::string name = fmt::format("bucket {}", number);
  const auto bytes = (buckets_[number].end - buckets_[number].begin) * static_cast<std::int64_t>(sizeof(float));
  const double end = clock_.now().count();
  options_.spans->add({.name = "exchange", .category = "exchange", .track = name, .begin = full_[number], .end = end, .bytes = bytes});
  options_.spans->add({.name = name, .category = "exchange", .track = "exchange", .begin = begin, .end = end, .bytes = bytes});
}

}  // namespace trireme::train
