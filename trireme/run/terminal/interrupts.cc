// SPDX-License-Identifier: Apache-2.0
// Signal handlers, and the one thread that they may interrupt.
#include "trireme/run/terminal/interrupts.h"

#include <array>

namespace trireme::run {
namespace {

constexpr std::array kCaught{SIGINT, SIGTERM, SIGHUP, SIGUSR1};

// A handler can reach nothing but a global.
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) {
  caught = signal;
  std::signal(signal, SIG_DFL);
}

sigset_t caught_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kCaught) sigaddset(&set, number);
  return set;
}

}  // namespace

Interrupts::Interrupts() : signal_(caught) {
  caught = 0;
  for (const int number : kCaught)
    if (std::signal(number, note) == SIG_IGN) std::signal(number, SIG_IGN);
  const sigset_t set = caught_set();
  ::pthread_sigmask(SIG_BLOCK, &set, &blocked_before_);
  listener_ = std::thread([set, over = over_.get_future()] {
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    over.wait();
  });
}

Interrupts::~Interrupts() {
  over_.set_value();
  listener_.join();
  ::pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
  for (const int number : kCaught) std::signal(number, SIG_DFL);
}

}  // namespace trireme::run
