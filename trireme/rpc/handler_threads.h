// SPDX-License-Identifier: Apache-2.0
// Threads for handlers that may wait: as many as are needed at once, up to a bound.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trireme::rpc {

class HandlerThreads {
 public:
  explicit HandlerThreads(int most) : most_(static_cast<std::size_t>(most)) {}
  ~HandlerThreads();  // when all work is done
  HandlerThreads(const HandlerThreads&) = delete;
  HandlerThreads& operator=(const HandlerThreads&) = delete;

  // Never makes work wait behind work: false if all threads are busy.
  bool run(std::function<void()> work);

 private:
  void serve();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trireme::rpc
