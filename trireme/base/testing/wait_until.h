// SPDX-License-Identifier: Apache-2.0
// Waiting for something that another thread or process does.
#pragma once

#include <chrono>
#include <thread>

namespace trireme {

// Waits until `condition` holds; false after `timeout`.
template <class Condition>
bool wait_until(const Condition& condition, std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace trireme
