// SPDX-License-Identifier: Apache-2.0
// A small web server for one run or a folder of them: one thread, few connections, short deadlines, and a token that only its user knows.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "trireme/base/clock.h"

namespace trireme::web {

struct ServerOptions {
  std::string address = "127.0.0.1";          // numbers, IPv4
  int port = 0;                               // 0: one that is free
  int max_connections = 32;                   // at once; the one that has waited longest makes room for a new one
  Seconds request_seconds{10};                // from the connection to the last byte of the answer
  std::function<std::string()> metrics = {};  // for Prometheus, at /metrics; empty: there is nothing
  // Of one run, where the document is that of a folder; called as the document is.
  std::function<std::string(const std::string& run)> run_document = {};
};

class Server {
 public:
  // Listens from now on. `document` makes the run's JSON; it is called on the server's own thread. Errors: unavailable if the port is
  // taken, invalid_argument for an address that is not this machine's or means all of them.
  explicit Server(std::function<std::string()> document, const ServerOptions& options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  std::string url() const;    // with the token: a client that has it may read
  std::string token() const;  // 128 random bits in hexadecimal

  // If a page has asked during the last seconds, waits until it has asked once more, so that it sees how the run ended.
  void wait_for_last_look(Seconds at_most);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace trireme::web
