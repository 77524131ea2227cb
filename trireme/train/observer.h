// SPDX-License-Identifier: Apache-2.0
// What a training tells whoever watches it.
#pragma once

#include <cstdint>

namespace trireme::train {

struct StepRecord {
  std::int64_t epoch = 0;         // the first is 0
  std::int64_t samples_seen = 0;  // since the beginning, this step's included
  std::int64_t samples_total = 0;
  double loss = 0;      // mean since the epoch began, as are the next two
  double accuracy = 0;  // share of samples with the right answer
  double samples_per_second = 0;
};

struct EpochRecord {
  std::int64_t epoch = 0;
  std::int64_t samples = 0;
  double learning_rate = 0;  // of the last step
  double loss = 0;           // mean data loss over the epoch
  double penalty = 0;        // L2 regularisation in the last step
  double accuracy = 0;
  double test_loss = 0;  // after the epoch, on the held-out samples
  double test_accuracy = 0;
  double seconds = 0;  // of training, without the evaluation
  double samples_per_second = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void step(const StepRecord&) {}
  virtual void epoch(const EpochRecord&) {}
};

}  // namespace trireme::train
