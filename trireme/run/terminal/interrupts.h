// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, SIGTERM and their like as a number that a loop can look at.
#pragma once

#include <atomic>
#include <csignal>
#include <future>
#include <thread>

namespace trireme::run {

// While it lives, the first SIGINT, SIGTERM, SIGHUP (the terminal was closed) or SIGUSR1 (a batch system's warning) only sets
// signal(); a second one of the same kind ends the process at once, as without it. One that was ignored before (nohup, a node of a batch
// system, whose signals are the coordinator's business) stays ignored.
//
// They are handled by a thread of its own and blocked in the one that makes this, hence in all that it starts: a matrix product of oneDNN
// (2.6) points the stack register into its buffer on the heap, where a handler's frame would overwrite what stands before that buffer.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();  // by the thread that made it
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  const std::atomic<int>& signal() const { return signal_; }  // 0, or the last that came

 private:
  const std::atomic<int>& signal_;
  sigset_t blocked_before_{};
  std::promise<void> over_;
  std::thread listener_;
};

}  // namespace trireme::run
