// SPDX-License-Identifier: Apache-2.0
// Lets another thread end what a member waits for: a rendezvous, a collective.
#pragma once

namespace trireme::comm {

class Cancellation {
 public:
  Cancellation();
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  void cancel();  // from any thread, once and for all
  bool is_cancelled() const;
  void check() const;                             // throws `cancelled` if so
  int descriptor() const { return descriptor_; }  // can be read from once it is cancelled; for poll

 private:
  int descriptor_;
};

}  // namespace trireme::comm
