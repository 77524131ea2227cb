// SPDX-License-Identifier: Apache-2.0
// Listens for the server, so that it is known who comes, and hands the connections on.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "trireme/rpc/arrivals.h"

namespace trireme::rpc {

// Sockets that listen, on the same port of every address.
class Listeners {
 public:
  Listeners(const std::vector<std::string>& addresses, int port);  // 0: any
  ~Listeners();
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  int port() const { return port_; }
  const std::vector<int>& descriptors() const { return descriptors_; }

 private:
  bool open(const std::vector<std::string>& addresses, int port);
  void close();

  int port_ = 0;
  std::vector<int> descriptors_;
};

// Accepts on a thread of its own.
class Acceptor {
 public:
  using PassOn = std::function<void(int listener, int connection)>;

  Acceptor(const Listeners& listeners, Arrivals& arrivals, PassOn pass_on);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void run();
  void accept_some(int listener);

  const Listeners& listeners_;
  Arrivals& arrivals_;
  const PassOn pass_on_;
  int wake_ = -1;  // an event that ends the thread
  std::thread thread_;
};

}  // namespace trireme::rpc
