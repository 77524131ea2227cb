// SPDX-License-Identifier: Apache-2.0
// Time as something handed in, so that tests can turn it themselves.
#pragma once

#include <chrono>

namespace trireme {

using Seconds = std::chrono::duration<double>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Seconds now() const = 0;  // since an arbitrary start, never backwards
};

class SteadyClock final : public Clock {
 public:
  Seconds now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

class FakeClock final : public Clock {
 public:
  Seconds now() const override { return now_; }
  void advance(Seconds by) { now_ += by; }

 private:
  Seconds now_{0};
};

}  // namespace trireme
