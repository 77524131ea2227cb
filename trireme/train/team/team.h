// SPDX-License-Identifier: Apache-2.0
// The workers of a generation, as one of them sees them.
#pragma once

#include <span>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/comm/communicator.h"
#include "trireme/train/team/neighbours.h"

namespace trireme::train {

class Team {
 public:
  static Team alone();
  // Each collective waits at most `timeout` for the others. A team without membership has generation 0.
  Team(comm::Communicator communicator, Seconds timeout, std::uint64_t generation = 0, Neighbours neighbours = {});

  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }
  bool is_alone() const { return size() == 1; }
  std::uint64_t generation() const { return generation_; }
  Seconds timeout() const { return timeout_; }
  int missed_peer() const { return communicator_.missed_peer(); }
  comm::Communicator& communicator() { return communicator_; }
  const Neighbours& neighbours() const { return neighbours_; }

  // For others who are at work, not in an exchange: whether they live is the coordinator's business.
  Seconds patience() const { return 10 * timeout_; }

  void sum(std::span<double> values) { sum(values, timeout_); }
  void sum(std::span<double> values, Seconds timeout);
  // Over the workers, each counting by its weight. If that fails, the values are as they were.
  void average(std::span<float> values, double weight);
  std::vector<float> averaged(std::span<const float> values, double weight);
  template <class T>
  void broadcast(std::span<T> values, int root) {
    broadcast(values, root, timeout_);
  }
  template <class T>
  void broadcast(std::span<T> values, int root, Seconds timeout) {
    communicator_.broadcast(std::as_writable_bytes(values), root, timeout);
  }
  std::vector<double> gather(double value) { return gather(std::span(&value, 1)); }
  std::vector<double> gather(std::span<const double> values);  // as many of each worker, in order of ranks
  void barrier() { communicator_.barrier(timeout_); }

 private:
  comm::Communicator communicator_;
  Seconds timeout_;
  std::uint64_t generation_;
  Neighbours neighbours_;
};

}  // namespace trireme::train
