// SPDX-License-Identifier: Apache-2.0
// A counter of the kernel's that poll can wait for beside sockets.
#include "trireme/comm/cancellation.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "trireme/base/error.h"

namespace trireme::comm {

Cancellation::Cancellation() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw Error{resource_exhausted, "cannot make an event descriptor: {}", std::strerror(errno)};
}

Cancellation::~Cancellation() { ::close(descriptor_); }

void Cancellation::cancel() {  // NOLINT(readability-make-member-function-const): it changes what `descriptor_` refers to
  const std::uint64_t one = 1;
  // It fails only when the counter is full, that is, cancelled.
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, &one, sizeof one);
}

bool Cancellation::is_cancelled() const {
  pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, 0) > 0;
}

void Cancellation::check() const {
  if (is_cancelled()) throw Error{cancelled, "this generation is over"};
}

}  // namespace trireme::comm
