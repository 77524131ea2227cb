// SPDX-License-Identifier: Apache-2.0
// Signal handlers.
#include "trireme/cli/interrupts.h"

#include <array>
#include <csignal>

namespace trireme::cli {
namespace {

constexpr std::array kCaught{SIGINT, SIGTERM, SIGHUP, SIGUSR1};

// A handler can reach nothing but a global.
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) {
  caught = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupts::Interrupts() {
  caught = 0;
  for (const int number : kCaught)
    if (std::signal(number, note) == SIG_IGN) std::signal(number, SIG_IGN);
}

Interrupts::~Interrupts() {
  for (const int number : kCaught) std::signal(number, SIG_DFL);
}

const std::atomic<int>& Interrupts::signal() const { return caught; }

}  // namespace trireme::cli
