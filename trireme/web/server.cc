// SPDX-License-Identifier: Apache-2.0
// One thread that polls a listener and its few connections.
#include "trireme/web/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/hexadecimal.h"
#include "trireme/base/host.h"
#include "trireme/web/connection.h"
#include "trireme/web/site.h"

namespace trireme::web {
namespace {

constexpr std::size_t kTokenBytes = 16;

sockaddr_in address_of(const ServerOptions& options) {
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(options.port))};
  if (::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
    throw Error{invalid_argument, "'{}' is no IPv4 address; 127.0.0.1 is this machine only", options.address};
  if (address.sin_addr.s_addr == htonl(INADDR_ANY))
    throw Error{invalid_argument, "0.0.0.0 would listen on every network of this machine; name one of its addresses"};
  return address;
}

Descriptor listen_at(const ServerOptions& options) {
  const sockaddr_in address = address_of(options);
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (!listener.is_open()) throw_system_error(errno, "open a socket");
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EADDRINUSE)
      throw Error{unavailable, "port {} is taken by another program; choose another one, or none: then a free one is found", options.port};
    throw_system_error(errno, fmt::format("listen on {}:{}", options.address, options.port));
  }
  if (::listen(listener.get(), SOMAXCONN) != 0) throw_system_error(errno, "listen");
  return listener;
}

Site make_site(std::function<std::string()> document, const std::string& token, const ServerOptions& options, int port) {
  return {std::move(document),
          {.token = token,
           .cookie_name = fmt::format("trireme_{}", port),
           .address = options.address,
           .metrics = options.metrics,
           .run_document = options.run_document}};
}

}  // namespace

class Server::Loop {
 public:
  Loop(std::function<std::string()> document, const ServerOptions& options)
      : options_(options),
        listener_(listen_at(options)),
        stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        port_(bound_port(listener_.get())),
        token_(to_hex(random_bytes(kTokenBytes))),
        site_(make_site(std::move(document), token_, options, port_)),
        thread_([this] { serve(); }) {}
  ~Loop() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  int port() const { return port_; }
  const std::string& token() const { return token_; }
  std::string url() const { return fmt::format("http://{}:{}/?token={}", options_.address, port_, token_); }
  // Looks at the document so far, and the time of the last one.
  std::int64_t looks() const { return looks_; }
  double last_look() const { return last_look_; }
  double now() const { return clock_.now().count(); }

 private:
  void serve() {
    std::vector<pollfd> watched;
    for (;;) {
      watched = {{.fd = stop_.get(), .events = POLLIN}, {.fd = listener_.get(), .events = POLLIN}};
      for (const Connection& connection : connections_) watched.push_back({.fd = connection.descriptor(), .events = connection.awaited()});
      ::poll(watched.data(), watched.size(), 500);
      if (watched[0].revents != 0) return;
      for (std::size_t i = 0; i < connections_.size(); ++i)
        if (watched[i + 2].revents != 0) attend(connections_[i]);
      const Seconds now = clock_.now();
      std::erase_if(connections_, [now](const Connection& connection) { return connection.is_over(now); });
      if (watched[1].revents != 0) accept_all();
    }
  }

  void attend(Connection& connection) {
    connection.go_on([this](const Request& request) {
      Response response = site_.answer(request);
      if (request.path == "/api/run" && (response.status == 200 || response.status == 304)) {
        last_look_ = now();
        ++looks_;
      }
      return response;
    });
  }

  void accept_all() {
    for (;;) {
      Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!client.is_open()) return;
      // They stand in order of their arrival, so the first has had the most time.
      if (connections_.size() >= static_cast<std::size_t>(options_.max_connections)) connections_.erase(connections_.begin());
      connections_.emplace_back(std::move(client), clock_.now() + options_.request_seconds);
    }
  }

  ServerOptions options_;
  SteadyClock clock_;
  Descriptor listener_;
  Descriptor stop_;
  int port_;
  std::string token_;
  Site site_;
  std::vector<Connection> connections_;
  std::atomic<std::int64_t> looks_{0};
  std::atomic<double> last_look_{-1e9};
  std::thread thread_;  // last: it uses all of the above
};

Server::Server(std::function<std::string()> document, const ServerOptions& options)
    : loop_(std::make_unique<Loop>(std::move(document), options)) {}
Server::~Server() = default;

int Server::port() const { return loop_->port(); }
std::string Server::url() const { return loop_->url(); }
std::string Server::token() const { return loop_->token(); }

void Server::wait_for_last_look(Seconds at_most) {
  constexpr double kRecent = 5;
  const double begin = loop_->now();
  if (begin - loop_->last_look() > kRecent) return;
  const std::int64_t before = loop_->looks();
  while (loop_->looks() == before && loop_->now() - begin < at_most.count()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace trireme::web
