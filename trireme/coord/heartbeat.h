// SPDX-License-Identifier: Apache-2.0
// A thread that does something at regular times, and knows when it was held up itself.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "trireme/base/clock.h"

namespace trireme::coord {

class Heartbeat {
 public:
  // `beat` gets by how much it comes late: a process that was stopped must not take its own absence for the others' silence.
  // `clock` must outlive it.
  Heartbeat(const Clock& clock, Seconds every, std::function<void(Seconds late)> beat)
      : clock_(clock), thread_([this, every, beat = std::move(beat)] { run(every, beat); }) {}
  ~Heartbeat() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void run(Seconds every, const std::function<void(Seconds)>& beat) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const Seconds due = clock_.now() + every;
      if (changed_.wait_for(lock, every, [this] { return ending_; })) return;
      lock.unlock();
      beat(clock_.now() - due);
      lock.lock();
    }
  }

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace trireme::coord
