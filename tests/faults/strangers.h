// SPDX-License-Identifier: Apache-2.0
// What strangers do to processes that listen, and what the processes show of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trireme::tests {

struct Port {
  std::string address;
  int number = 0;
};

std::vector<Port> ports_of(pid_t process);  // where it listens (TCP over IPv4)
std::int64_t descriptors_of(pid_t process);
std::int64_t memory_in_use(pid_t process);  // bytes, now
std::vector<pid_t> children_of(pid_t process);

// A TCP connection that closes itself; no waiting anywhere.
class Caller {
 public:
  explicit Caller(const Port& port);
  ~Caller();
  Caller(Caller&& other) noexcept;
  Caller& operator=(Caller&&) = delete;

  bool open() const { return descriptor_ >= 0; }
  void say(const std::string& bytes) const;  // as much as goes out at once

 private:
  int descriptor_ = -1;
};

// The first message of a TLS client that speaks HTTP/2, as a server must take it seriously: it answers with a signature.
std::string client_hello();

// What a scanner says when it is through to a port: nothing, 64 bytes of garbage, an HTTP request, the begin of a TLS handshake, the name
// of our own protocol, a megabyte of noise.
const std::vector<std::string>& greetings();

// Connects to a port again and again, saying each greeting in turn, until it is asked to stop. Returns how many connections were made.
std::int64_t pester(const std::function<std::vector<Port>()>& ports, const std::function<bool()>& goes_on, double each_second);

}  // namespace trireme::tests
