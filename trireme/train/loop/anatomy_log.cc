// SPDX-License-Identifier: Apache-2.0
// Differences between the ends of two steps.
#include "trireme/train/loop/anatomy_log.h"

#include <algorithm>

namespace trireme::train {

void AnatomyLog::begin() {
  if (!report_ || end_) return;
  end_ = clock_.now();
  traffic_ = exchanged();
}

void AnatomyLog::end(const Step& step) {
  if (!report_ || !end_) return;
  const Seconds now = clock_.now();
  const Traffic traffic = exchanged();
  const double work_wait = std::min(step.work_wait, step.batch_wait);
  observe::StepAnatomy anatomy{.step = step.step,
                               .epoch = step.epoch,
                               .seconds = (now - *end_).count(),
                               .samples = step.samples,
                               .input_wait_seconds = step.batch_wait - work_wait,
                               .forward_seconds = step.times.forward,
                               .backward_seconds = step.times.backward,
                               .exposed_seconds = step.times.exposed,
                               .optimizer_seconds = step.times.optimizer,
                               .read_seconds = step.stream.read_seconds - stream_.read_seconds,
                               .decode_seconds = step.stream.decode_seconds - stream_.decode_seconds,
                               .exchange_seconds = step.times.exchange,
                               .bytes_sent = traffic.sent - traffic_.sent,
                               .bytes_received = traffic.received - traffic_.received,
                               .staleness = step.times.staleness};
  anatomy.idle_seconds = std::max(0.0, anatomy.seconds - observe::parts_of(anatomy));
  end_ = now;
  traffic_ = traffic;
  stream_ = step.stream;
  report_(anatomy);
}

}  // namespace trireme::train
