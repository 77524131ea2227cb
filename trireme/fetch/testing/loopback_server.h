// SPDX-License-Identifier: Apache-2.0
// For tests: a web server on this machine that can be made to misbehave.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::fetch {

struct Request {
  std::string path;
  std::int64_t range_start = 0;  // of "Range: bytes=N-"
};

struct Answer {
  int status = 200;
  std::string body;
  bool ranges = true;             // are Range requests honoured?
  std::int64_t cut_after = -1;    // bytes of this answer, then the connection is closed
  std::int64_t stall_after = -1;  // bytes of this answer, then nothing until the client leaves
  std::string location;           // of a redirection
};

// `nth` counts the requests for the same path from 0.
using Behaviour = std::function<Answer(const Request& request, int nth)>;

class LoopbackServer {
 public:
  LoopbackServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    ensure(::bind(socket_, reinterpret_cast<sockaddr*>(&address), length) == 0 && ::listen(socket_, 16) == 0, "loopback must work");
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  }
  ~LoopbackServer() {
    ::shutdown(socket_, SHUT_RDWR);  // ends accept
    if (thread_.joinable()) thread_.join();
    ::close(socket_);
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  void on(const std::string& path, Behaviour behaviour) { behaviours_[path] = std::move(behaviour); }
  void on(const std::string& path, std::string body) {
    on(path, [body = std::move(body)](const Request&, int) { return Answer{.body = body}; });
  }
  // After all of on(): a test that forks starts it afterwards.
  void start() {
    thread_ = std::thread([this] { serve(); });
  }

  std::string url(const std::string& path) const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }
  std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::int64_t bytes_sent() const { return sent_; }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      answer(client);
      ::close(client);
    }
  }

  static Request read_request(int client) {
    std::string text;
    char letter = 0;
    while (!text.ends_with("\r\n\r\n") && ::recv(client, &letter, 1, 0) == 1) text += letter;
    Request request;
    const auto begin = text.find(' ') + 1;
    request.path = text.substr(begin, text.find(' ', begin) - begin);
    if (const auto range = text.find("Range: bytes="); range != std::string::npos)
      request.range_start = std::stoll(text.substr(range + 13));
    return request;
  }

  Answer choose(const Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    const auto behaviour = behaviours_.find(request.path);
    if (behaviour == behaviours_.end()) return {.status = 404};
    return behaviour->second(request, counts_[request.path]++);
  }

  void answer(int client) {
    const Request request = read_request(client);
    Answer reply = choose(request);
    const auto total = static_cast<std::int64_t>(reply.body.size());
    std::string headers;
    if (request.range_start > 0 && reply.ranges && reply.status == 200) {
      reply.status = request.range_start < total ? 206 : 416;
      headers = reply.status == 206 ? fmt::format("Content-Range: bytes {}-{}/{}\r\n", request.range_start, total - 1, total)
                                    : fmt::format("Content-Range: bytes */{}\r\n", total);
      reply.body = reply.status == 206 ? reply.body.substr(static_cast<std::size_t>(request.range_start)) : "";
    }
    if (!reply.location.empty()) headers += fmt::format("Location: {}\r\n", reply.location);
    send(client,
         fmt::format("HTTP/1.1 {} x\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n", reply.status, reply.body.size(), headers));
    const std::int64_t end = std::max(reply.cut_after, reply.stall_after);
    const std::string part = end < 0 ? reply.body : reply.body.substr(0, static_cast<std::size_t>(end));
    sent_ += static_cast<std::int64_t>(part.size());  // before the client can have it, and ask
    send(client, part);
    char ignored = 0;
    if (reply.stall_after >= 0) (void)!::recv(client, &ignored, 1, 0);  // ends when the client does
  }

  static void send(int client, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  int socket_;
  int port_ = 0;
  std::map<std::string, Behaviour> behaviours_;
  mutable std::mutex mutex_;
  std::map<std::string, int> counts_;
  std::vector<Request> requests_;
  std::atomic<std::int64_t> sent_{0};
  std::thread thread_;
};

}  // namespace trireme::fetch
