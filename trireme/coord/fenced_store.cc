// SPDX-License-Identifier: Apache-2.0
// A map that can be waited on, for one generation at a time.
#include "trireme/coord/fenced_store.h"

namespace trireme::coord {

void FencedStore::begin(std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  generation_ = generation;
  values_.clear();
  bytes_ = 0;
  changed_.notify_all();
}

void FencedStore::set(const Stamp& stamp, const std::string& key, std::string value) {
  const std::lock_guard lock(mutex_);
  check(stamp);
  if (bytes_ + key.size() + value.size() > kMaxBytes)
    throw Error{resource_exhausted, "the store takes {} bytes a generation: '{}' is too much", kMaxBytes, key};
  bytes_ += key.size() + value.size();
  values_[key] = std::move(value);
  changed_.notify_all();
}

std::string FencedStore::get(const Stamp& stamp, const std::string& key, Seconds timeout) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(timeout);
  std::unique_lock lock(mutex_);
  for (;;) {
    check(stamp);
    if (const auto value = values_.find(key); value != values_.end()) return value->second;
    if (changed_.wait_until(lock, end) == std::cv_status::timeout && std::chrono::steady_clock::now() >= end)
      throw Error{deadline_exceeded, "no member has set '{}' within {:g} s", key, timeout.count()};
  }
}

void FencedStore::drop(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  dropped_.insert(ticket);
  changed_.notify_all();
}

void FencedStore::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void FencedStore::check(const Stamp& stamp) const {
  if (ended_) throw Error{unavailable, "the coordinator is ending"};
  if (dropped_.contains(stamp.ticket)) throw Error{failed_precondition, "this node is not a member any more"};
  if (stamp.generation != generation_) throw Error{failed_precondition, "generation {} is over: {} holds", stamp.generation, generation_};
}

}  // namespace trireme::coord
