// SPDX-License-Identifier: Apache-2.0
// Watches the writes of a run directory on a thread that never writes there itself, and tells the user when one hangs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "trireme/base/clock.h"
#include "trireme/run/training/disk_watch.h"

namespace trireme::run {

class DiskGuard {
 public:
  struct Options {
    const Clock& clock;
    const std::atomic<int>& stop;                      // the signal that interrupts the training
    std::function<void(const std::string& line)> say;  // on the guard's thread
    std::function<void(int code)> exit;                // a thread that hangs in a write can't be ended: this must end the process
  };
  DiskGuard(std::string directory, Options options);
  ~DiskGuard();
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

  const Clock& clock() const { return options_.clock; }
  void rename(std::string directory);  // a new run gets its name
  void expect_end();                   // what is written from here on is waited for only so long
  // Called before exit(); after this returns, the one before is not being called any more. It must not wait for the disk.
  void before_exit(std::function<void()> leave);

  // A write is under way, on the calling thread, for as long as this lives.
  class Write {
   public:
    Write(DiskGuard& guard, const DiskWrite& write) : guard_(guard), id_(guard.begin(write)) {}
    ~Write() { guard_.end(id_); }
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;

   private:
    DiskGuard& guard_;
    DiskWatch::Id id_;
  };

 private:
  DiskWatch::Id begin(const DiskWrite& write);
  void end(DiskWatch::Id id);
  void run(const std::stop_token& stop);
  void look();
  DiskWait wait() const;

  Options options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  DiskWatch watch_;
  bool expects_end_ = false;
  std::mutex leaving_;
  std::function<void()> leave_;
  std::jthread thread_;  // last, so that it ends first
};

}  // namespace trireme::run
