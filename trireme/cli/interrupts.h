// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM as a number that a loop can look at.
#pragma once

#include <atomic>

namespace trireme::cli {

// While it lives, the first SIGINT or SIGTERM only sets signal(); a second one ends the process at once, as without it.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  const std::atomic<int>& signal() const;  // 0, SIGINT or SIGTERM
};

}  // namespace trireme::cli
