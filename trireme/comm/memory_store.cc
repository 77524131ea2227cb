// SPDX-License-Identifier: Apache-2.0
// A map that can be waited on.
#include "trireme/base/error.h"
#include "trireme/comm/store.h"

namespace trireme::comm {

void MemoryStore::set(const std::string& key, const std::string& value) {
  {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
  }
  changed_.notify_all();
}

std::string MemoryStore::get(const std::string& key, Seconds timeout) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [&] { return values_.contains(key); }))
    throw Error{deadline_exceeded, "no member has set '{}' within {:g} s", key, timeout.count()};
  return values_[key];
}

}  // namespace trireme::comm
