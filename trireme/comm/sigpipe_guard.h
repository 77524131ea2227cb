// SPDX-License-Identifier: Apache-2.0
// Keeps a write to a peer that is gone from ending the process: Gloo's writes raise SIGPIPE.
#pragma once

#include <csignal>
#include <ctime>

namespace trireme::comm {

// Blocks the signal in this thread, and in threads it starts meanwhile; swallows what its writes have raised.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~SigpipeGuard() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now{};
    while (sigtimedwait(&signal_, nullptr, &now) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

}  // namespace trireme::comm
