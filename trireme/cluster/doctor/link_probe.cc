// SPDX-License-Identifier: Apache-2.0
// Sockets of link tries. The protocol: token -> 'k'; ten times 'p' -> 'p'; 'd' and data until the end -> "bytes seconds".
#include "trireme/cluster/doctor/link_probe.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "trireme/base/descriptor.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/host.h"

namespace trireme::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kPings = 10;
constexpr std::size_t kChunk = 256 << 10;
constexpr int kSendBuffer = 1 << 20;  // bounds what is still on the way when the time is over
constexpr auto kPatience = milliseconds(8000);
constexpr std::size_t kMaxTries = 64;  // at the same time

struct Addresses {
  explicit Addresses(const std::string& host, std::int64_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    const int fault = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (fault != 0) words = ::gai_strerror(fault);
  }
  ~Addresses() {
    if (list != nullptr) ::freeaddrinfo(list);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  addrinfo* list = nullptr;
  std::string words;
};

Descriptor make_socket(const addrinfo& address, int type) { return Descriptor(::socket(address.ai_family, type | SOCK_CLOEXEC, 0)); }

void set_patience(const Descriptor& socket, milliseconds patience) {
  const timeval limit{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool send_all(const Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool receive_exactly(const Descriptor& socket, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::recv(socket.get(), bytes, size, 0);
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// The time must not reveal how many characters were right.
bool is_same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

void answer_data(const Descriptor& socket) {
  std::vector<char> buffer(kChunk);
  std::int64_t bytes = 0;
  const Clock::time_point start = Clock::now();
  ssize_t count = 0;
  while ((count = ::recv(socket.get(), buffer.data(), buffer.size(), 0)) > 0) bytes += count;
  if (count < 0) return;
  send_all(socket, fmt::format("{} {:.6f}\n", bytes, std::chrono::duration<double>(Clock::now() - start).count()));
}

void answer(const Descriptor& socket, const std::string& token) {
  set_patience(socket, kPatience);
  std::string theirs(token.size(), '\0');
  if (!receive_exactly(socket, theirs.data(), theirs.size()) || !is_same_secret(theirs, token) || !send_all(socket, "k")) return;
  char verb = 0;
  for (int pings = 0; pings <= kPings && receive_exactly(socket, &verb, 1); ++pings) {
    if (verb == 'd') return answer_data(socket);
    if (verb != 'p' || !send_all(socket, "p")) return;
  }
}

LinkResult broken(std::string words) { return {.fault = "broken", .words = std::move(words)}; }

LinkResult fault_of(int reason) {
  const std::string words = std::strerror(reason);
  switch (reason) {
    case ECONNREFUSED:
      return {.fault = "refused", .words = words};
    case ETIMEDOUT:
      return {.fault = "timeout", .words = words};
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EACCES:
      return {.fault = "unreachable", .words = words};
    default:
      return broken(words);
  }
}

// 0, or the reason why not.
int connect_in_time(const Descriptor& socket, const addrinfo& address, milliseconds limit) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    pollfd wait{socket.get(), POLLOUT, 0};
    if (::poll(&wait, 1, static_cast<int>(limit.count())) == 0) return ETIMEDOUT;
    int reason = 0;
    socklen_t size = sizeof reason;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &reason, &size);
    if (reason != 0) return reason;
  }
  ::fcntl(socket.get(), F_SETFL, flags);
  return 0;
}

std::optional<double> best_round_trip(const Descriptor& socket) {
  double best = 1e9;
  for (int i = 0; i < kPings; ++i) {
    char echo = 0;
    const Clock::time_point start = Clock::now();
    if (!send_all(socket, "p") || !receive_exactly(socket, &echo, 1)) return {};
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

std::optional<double> measured_speed(const Descriptor& socket, milliseconds sending) {
  const std::string chunk(kChunk, 'x');
  if (!send_all(socket, "d")) return {};
  const Clock::time_point end = Clock::now() + sending;
  while (Clock::now() < end)
    if (!send_all(socket, chunk)) return {};
  ::shutdown(socket.get(), SHUT_WR);
  std::string reply;
  for (char c = 0; receive_exactly(socket, &c, 1) && c != '\n';) reply += c;
  double seconds = 0;
  double bytes = 0;
  if (std::sscanf(reply.c_str(), "%lf %lf", &bytes, &seconds) != 2 || seconds <= 0) return {};
  constexpr double kBits = 8;
  return kBits * bytes / seconds;
}

LinkResult talk(const Descriptor& socket, const LinkTry& link) {
  set_patience(socket, kPatience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
  char welcome = 0;
  if (!send_all(socket, link.token) || !receive_exactly(socket, &welcome, 1)) return broken("connected, but no answer came");
  const auto round_trip = best_round_trip(socket);
  if (!round_trip) return broken("the connection was lost in small messages");
  if (link.sending.count() == 0) return {.fault = {}, .words = {}, .round_trip = *round_trip, .bits_per_second = 0};
  const auto speed = measured_speed(socket, link.sending);
  if (!speed) return broken("the connection was lost when much data was sent; a wrong MTU on the way does that");
  return {.fault = {}, .words = {}, .round_trip = *round_trip, .bits_per_second = *speed};
}

}  // namespace

struct LinkListener::State {
  State(const std::string& address, std::string given, milliseconds lifetime) : token(std::move(given)), end(Clock::now() + lifetime) {
    listen_on(address);
    wake = Descriptor(::eventfd(0, EFD_CLOEXEC));
    thread = std::thread([this] { serve(); });
  }

  ~State() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t count = ::write(wake.get(), &one, sizeof one);
    thread.join();
    for (Answer& answering : answers) answering.thread.join();
  }

  struct Answer {
    std::atomic<bool> is_done{false};
    std::thread thread;
  };

  void forget_done() {
    answers.remove_if([](Answer& one) {
      if (one.is_done) one.thread.join();
      return one.is_done.load() && !one.thread.joinable();
    });
  }

  void start_answer(int accepted) {
    Answer& one = answers.emplace_back();
    one.thread = std::thread([this, &one, accepted] {
      answer(Descriptor(accepted), token);
      one.is_done = true;
    });
  }

  void listen_on(const std::string& address) {
    const Addresses addresses(address, 0);
    if (addresses.list == nullptr) throw Error{not_found, "the address {} can't be resolved there: {}", address, addresses.words};
    int reason = 0;
    for (const addrinfo* one = addresses.list; one != nullptr; one = one->ai_next) {
      socket = make_socket(*one, SOCK_STREAM);
      if (::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 && ::listen(socket.get(), kMaxTries) == 0) {
        port = bound_port(socket.get());
        return;
      }
      reason = errno;
    }
    if (reason == EADDRNOTAVAIL)
      throw Error{failed_precondition, "{} is not one of its own addresses (behind NAT?); write the address that the other machines use",
                  address};
    throw_system_error(reason, fmt::format("listen on {}", address));
  }

  void serve() {
    while (true) {
      forget_done();
      const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
      std::array<pollfd, 2> waits{pollfd{socket.get(), POLLIN, 0}, pollfd{wake.get(), POLLIN, 0}};
      if (left <= 0 || (::poll(waits.data(), waits.size(), static_cast<int>(left)) < 0 && errno != EINTR)) return;
      if (waits[1].revents != 0) return;
      if (waits[0].revents == 0) continue;
      const int accepted = ::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted < 0) continue;
      if (answers.size() < kMaxTries)
        start_answer(accepted);
      else
        ::close(accepted);
    }
  }

  std::string token;
  Clock::time_point end;
  Descriptor socket;
  Descriptor wake;
  std::int64_t port = 0;
  std::list<Answer> answers;
  std::thread thread;
};

LinkListener::LinkListener(const std::string& address, std::string token, milliseconds lifetime)
    : state_(std::make_unique<State>(address, std::move(token), lifetime)) {}
LinkListener::~LinkListener() = default;
std::int64_t LinkListener::port() const { return state_->port; }

LinkResult try_link(const LinkTry& link) {
  const Addresses addresses(link.address, link.port);
  if (addresses.list == nullptr) return {.fault = "unresolved", .words = addresses.words};
  int reason = 0;
  for (const addrinfo* one = addresses.list; one != nullptr; one = one->ai_next) {
    const Descriptor socket = make_socket(*one, SOCK_STREAM);
    reason = connect_in_time(socket, *one, link.connecting);
    if (reason == 0) return talk(socket, link);
  }
  return fault_of(reason);
}

}  // namespace trireme::cluster
