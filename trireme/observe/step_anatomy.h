// SPDX-License-Identifier: Apache-2.0
// Where the time of one step of one node went; the same words for every strategy.
#pragma once

#include <cstdint>

namespace trireme::observe {

// Seconds. The first group makes up the step. The second ran behind it: it is never added to the first.
struct StepAnatomy {
  std::int64_t step = 0;
  std::int64_t epoch = 0;    // the first is 0
  double start = 0;          // seconds since 1970
  double seconds = 0;        // from the end of the step before, or of what came between, to the end of this one
  std::int64_t samples = 0;  // of this node

  double input_wait = 0;  // for a batch that was not made in time
  double forward = 0;     // with the loss
  double backward = 0;
  double exchange_exposed = 0;  // waiting for other nodes, with nothing to compute
  double optimizer = 0;
  double idle = 0;  // the rest: waiting for work, telling others, keeping books

  double read = 0;      // by the background's threads, summed over them
  double decode = 0;    // the same: normalisation, augmentation, order
  double exchange = 0;  // while at least one exchange was submitted and not finished

  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t staleness = 0;  // updates by others since its parameters were pulled

  double parts() const { return input_wait + forward + backward + exchange_exposed + optimizer + idle; }
};

}  // namespace trireme::observe
