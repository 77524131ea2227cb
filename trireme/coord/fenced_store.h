// SPDX-License-Identifier: Apache-2.0
// What members of the generation that holds leave for each other; it knows no other generation.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/coord/wire_forms.h"

namespace trireme::coord {

// All calls may come from any thread. A call with a stamp of another generation, or whose generation ends while it waits, throws
// failed_precondition.
class FencedStore {
 public:
  void begin(std::uint64_t generation);  // forgets everything of the one before
  void set(const Stamp& stamp, const std::string& key, std::string value);
  std::string get(const Stamp& stamp, const std::string& key, Seconds timeout);
  void drop(std::uint64_t ticket);  // wakes the waits of a node that is gone
  void end();                       // wakes all waits

  static constexpr std::size_t kMaxBytes = 64 << 20;

 private:
  void check(const Stamp& stamp) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t generation_ = 0;
  bool ended_ = false;
  std::set<std::uint64_t> dropped_;
  std::size_t bytes_ = 0;
  std::map<std::string, std::string> values_;
};

}  // namespace trireme::coord
