// SPDX-License-Identifier: Apache-2.0
// Waiting for something that another process does.
#pragma once

#include <chrono>
#include <thread>

namespace trireme::tests {

// Waits until `condition` holds; false after `timeout`.
template <class Condition>
bool wait_until(const Condition& condition, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace trireme::tests
