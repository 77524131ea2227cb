// SPDX-License-Identifier: Apache-2.0
// Reading, answering and closing, never waiting.
#include "trireme/web/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "trireme/web/site.h"

namespace trireme::web {
namespace {

constexpr std::size_t kMaxRequest = 16 << 10;

bool must_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

short Connection::awaited() const { return phase_ == Phase::writing ? POLLOUT : POLLIN; }

void Connection::go_on(const std::function<Response(const Request&)>& answer) {
  if (phase_ == Phase::reading) read(answer);
  if (phase_ == Phase::writing) write();
  if (phase_ == Phase::draining) drain();
}

void Connection::read(const std::function<Response(const Request&)>& answer) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::recv(client_.get(), buffer.data(), buffer.size(), 0);
  if (count < 0 && must_wait()) return;
  if (count <= 0) {
    phase_ = Phase::over;
    return;
  }
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  const auto end = received_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (received_.size() > kMaxRequest) reply({.status = 431}, false);
    return;
  }
  if (end > kMaxRequest) return reply({.status = 431}, false);
  const auto request = parse_request(std::string_view(received_).substr(0, end));
  if (!request) return reply({.status = 400}, false);
  reply(answer(*request), request->method == "HEAD");
}

void Connection::reply(Response response, bool head_only) {
  add_protection(response);
  to_send_ = to_bytes(response, head_only);
  phase_ = Phase::writing;
}

void Connection::write() {
  while (sent_ < to_send_.size()) {
    const ssize_t count = ::send(client_.get(), to_send_.data() + sent_, to_send_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0 && must_wait()) return;
    if (count <= 0) {
      phase_ = Phase::over;
      return;
    }
    sent_ += static_cast<std::size_t>(count);
  }
  ::shutdown(client_.get(), SHUT_WR);
  phase_ = Phase::draining;
}

// Closing while bytes still come in would reset the connection, and the other end might lose the answer.
void Connection::drain() {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::recv(client_.get(), buffer.data(), buffer.size(), 0);
  if (count == 0 || (count < 0 && !must_wait())) phase_ = Phase::over;
}

}  // namespace trireme::web
