// SPDX-License-Identifier: Apache-2.0
// The time of the event that is being handled: it stands still in between.
#pragma once

#include "trireme/base/clock.h"

namespace trireme::train {

class EventClock final : public Clock {
 public:
  explicit EventClock(Seconds now) : now_(now) {}
  Seconds now() const override { return now_; }
  void set(Seconds now) { now_ = now; }

 private:
  Seconds now_;
};

}  // namespace trireme::train
