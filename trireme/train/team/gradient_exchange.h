// SPDX-License-Identifier: Apache-2.0
// Sums gradients over the workers in buckets, each as soon as backward has filled it, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/comm/communicator.h"
#include "trireme/observe/spans.h"
#include "trireme/tensor/parameter_space.h"

namespace trireme::train {

// A run of values that is reduced at once, and the slices that fill it.
struct Bucket {
  std::int64_t begin = 0;  // in the parameter space
  std::int64_t end = 0;
  std::int64_t slices = 0;
};

// In the order in which backward fills them: the last slices first. A bucket ends with the slice that brings it to `bytes`.
std::vector<Bucket> plan_buckets(const ParameterSpace& space, std::int64_t bytes);

class GradientExchange {
 public:
  struct Options {
    bool overlap = true;  // otherwise one reduction, after backward
    std::int64_t bucket_bytes = 0;
    comm::Communicator::Reduce reduce;
    Seconds timeout{30};
    observe::Spans* spans = nullptr;  // gets each bucket while it is on; may be null
  };
  // All must outlive the exchange. `head` floats lie before the gradients and are summed too.
  GradientExchange(comm::Communicator& communicator, const ParameterSpace& space, std::size_t head, const Options& options,
                   const Clock& clock);

  // `values` are head and gradients; gradients count by `weight`.
  void begin(std::span<float> values, double weight);
  // A slice's gradient is final; called by backward.
  void ready(std::size_t slice);
  // The head is final too. Returns when everything is summed; throws what a reduction threw. The seconds in which at least one bucket was
  // complete and not yet summed.
  double finish();

 private:
  void work(const std::stop_token& stop);
  void complete_one_more();
  void reduced_one_more();
  void reduce(std::size_t number);
  void record_spans(std::size_t number, double begin) const;

  comm::Communicator& communicator_;
  Options options_;
  const Clock& clock_;
  std::size_t head_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // each slice
  std::span<float> values_;
  double weight_ = 1;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<double> full_;           // when each bucket was; written before it is reduced
  std::vector<std::int64_t> missing_;  // slices of each bucket; the head is one more of the last
  std::size_t complete_ = 0;           // buckets of this step ...
  std::size_t reduced_ = 0;            // ... and those that are summed
  Seconds submitted_{};                // when there was something to sum again
  bool working_ = false;               // a step's buckets are being collected
  double seconds_ = 0;
  std::exception_ptr error_;

  std::jthread thread_;  // last, so that it ends first; only with overlap
};

}  // namespace trireme::train
