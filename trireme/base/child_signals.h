// SPDX-License-Identifier: Apache-2.0
// What a program that we start with posix_spawn may be interrupted by: everything, whatever this thread has blocked.
#pragma once

#include <spawn.h>

#include <csignal>

namespace trireme {

class ChildSignals {
 public:
  // `more_flags` are of posix_spawnattr_setflags.
  explicit ChildSignals(int more_flags = 0) {
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | more_flags));
  }
  ~ChildSignals() { posix_spawnattr_destroy(&attributes_); }
  ChildSignals(const ChildSignals&) = delete;
  ChildSignals& operator=(const ChildSignals&) = delete;

  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace trireme
