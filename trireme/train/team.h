// SPDX-License-Identifier: Apache-2.0
// The workers of a generation, as one of them sees them.
#pragma once

#include <span>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/comm/communicator.h"

namespace trireme::train {

class Team {
 public:
  static Team alone();
  // Each collective waits at most `timeout` for the others.
  Team(comm::Communicator communicator, Seconds timeout);

  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }
  bool is_alone() const { return size() == 1; }
  Seconds timeout() const { return timeout_; }
  comm::Communicator& communicator() { return communicator_; }

  void sum(std::span<double> values);
  // Over the workers, each counting by its weight.
  void average(std::span<float> values, double weight);
  template <class T>
  void broadcast(std::span<T> values, int root) {
    communicator_.broadcast(std::as_writable_bytes(values), root, timeout_);
  }
  std::vector<double> gather(double value);

 private:
  comm::Communicator communicator_;
  Seconds timeout_;
};

}  // namespace trireme::train
