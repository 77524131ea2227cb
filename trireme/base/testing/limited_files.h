// SPDX-License-Identifier: Apache-2.0
// For tests: a system that refuses to write beyond a number of bytes, as a full disk does, also without root.
#pragma once

#include <sys/resource.h>

#include <csignal>

#include "trireme/base/error.h"

namespace trireme {

// While it lives, no file of this process can become longer.
class LimitedFiles {
 public:
  explicit LimitedFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ensure(::getrlimit(RLIMIT_FSIZE, &before_) == 0, "a process knows its limits");
    const rlimit lower{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ensure(::setrlimit(RLIMIT_FSIZE, &lower) == 0, "a process may lower its own limit");
  }
  ~LimitedFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  LimitedFiles(const LimitedFiles&) = delete;
  LimitedFiles& operator=(const LimitedFiles&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_;
};

}  // namespace trireme
