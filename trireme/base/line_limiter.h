// SPDX-License-Identifier: Apache-2.0
// Lets one line a second through and counts the others, so that a peer that floods a process can't flood its log.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "trireme/base/clock.h"

namespace trireme {

// All calls may come from any thread. Without a `write` nothing happens.
class LineLimiter {
 public:
  using Write = std::function<void(const std::string&)>;

  explicit LineLimiter(Write write, const Clock& clock = kSteady) : write_(std::move(write)), clock_(clock) {}
  ~LineLimiter() { print_rest(); }
  LineLimiter(const LineLimiter&) = delete;
  LineLimiter& operator=(const LineLimiter&) = delete;

  // `times`: for how many events the line stands.
  void add(const std::string& line, std::uint64_t times = 1);
  // What was left out since the last line, if a second has passed.
  void look();

 private:
  void print_rest();

  static const SteadyClock kSteady;

  Write write_;
  const Clock& clock_;
  std::mutex mutex_;
  Seconds next_{-1e9};
  std::uint64_t left_out_ = 0;
};

}  // namespace trireme
