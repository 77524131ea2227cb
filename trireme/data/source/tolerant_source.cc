// SPDX-License-Identifier: Apache-2.0
// Remembers what each read threw.
#include "trireme/data/source/tolerant_source.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::data {

void TolerantSource::read(std::int64_t index, std::span<std::byte> sample) const {
  try {
    base_->read(index, sample);
  } catch (const Error& error) {  // this is what the class is for
    std::ranges::fill(sample, std::byte{0});
    const std::lock_guard lock(mutex_);
    faults_[index] = error.what();
  }
}

std::map<std::int64_t, std::string> TolerantSource::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

bool TolerantSource::is_faulty(std::int64_t index) const {
  const std::lock_guard lock(mutex_);
  return faults_.contains(index);
}

}  // namespace trireme::data
