// SPDX-License-Identifier: Apache-2.0
// How long a step would take with another network or another number of nodes, by a model whose assumptions stand in each answer.
#pragma once

#include <vector>

#include "trireme/report/judge/step_facts.h"

namespace trireme::report {

// step = compute (of a worker's share of the batch) + input + optimizer + idle + exposed exchange. An exchange is latency (rounds of it)
// + bytes / rate; what backward hid before it can hide again, but never the last bucket.
class StepModel {
 public:
  explicit StepModel(StepFacts facts);

  double step_seconds(double workers, double bandwidth_factor) const;
  double exchange_seconds(double workers, double bandwidth_factor) const;
  double latency() const { return latency_; }  // of a round, as assumed

 private:
  double rounds(double workers) const;
  double volume(double workers) const;  // how many times the model passes through the slowest link
  double exposed_seconds(double exchange, double workers) const;

  StepFacts facts_;
  double exchange_ = 0;  // measured, of a worker that waits for no other
  double waiting_ = 0;   // exposed beyond that: for slower workers
  double hidden_ = 0;
  double latency_ = 0;
};

std::vector<Prediction> predictions_of(const StepFacts& facts);

}  // namespace trireme::report
