// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, SIGTERM and their like as a number that a loop can look at.
#pragma once

#include <atomic>

namespace trireme::cli {

// While it lives, the first SIGINT, SIGTERM, SIGHUP (the terminal was closed) or SIGUSR1 (a batch system's warning) only sets
// signal(); a second one of the same kind ends the process at once, as without it. One that was ignored before (nohup, a node of a batch
// system, whose signals are the coordinator's business) stays ignored.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  const std::atomic<int>& signal() const;  // 0, or the last that came
};

}  // namespace trireme::cli
