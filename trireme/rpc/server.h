// SPDX-License-Identifier: Apache-2.0
// Answers calls by name, bytes in and bytes out, over mutual TLS.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/traffic.h"
#include "trireme/rpc/bulk.h"
#include "trireme/rpc/credentials.h"
#include "trireme/rpc/session.h"

namespace trireme::rpc {

constexpr std::size_t kChunkBytes = 1 << 20;  // what bulk data is cut into

// A peer without a certificate of the same authority doesn't get past the handshake.
class Server {
 public:
  struct Method {
    std::string name;
    std::vector<std::string> roles;  // who may call it; at least one
    // Runs on a thread of its own (Options::max_handlers at once; more are refused with resource_exhausted) and may wait, but not
    // for ever: the server's end waits for it. An Error that it throws is thrown at the caller, code and message unchanged.
    std::function<std::string(const Peer&, std::string request)> handler;
  };
  struct Stream {
    std::string name;
    std::vector<std::string> roles;
    // Called on a thread that must not be kept; an Error refuses the stream.
    std::function<SessionListener(const Peer&, std::shared_ptr<Session>)> opened;
  };
  struct BulkStream {
    std::string name;
    std::vector<std::string> roles;
    std::function<BulkListener(const Peer&, std::shared_ptr<BulkSession>)> opened;  // as of a Stream
    std::shared_ptr<TrafficCounter> traffic{};                                      // counts what passes; may be empty
  };
  struct Options {
    std::vector<std::string> addresses;  // IP literals of interfaces; never "any"
    int port = 0;                        // 0: any, but the same on all addresses
    Credentials credentials;             // of a coordinator or a node
    std::vector<Method> methods;
    std::vector<Stream> streams;
    std::vector<BulkStream> bulk_streams;
    int max_handlers = 512;
    std::size_t memory = std::size_t{512} << 20;  // for what is on its way; more makes peers wait, then costs them their streams
    std::function<void(const std::string&)> report_stranger{};  // of strangers: a line a second at most; may be empty
    // For benchmarks on this machine: no TLS, no certificates, every peer is a node named "plain"; loopback addresses only.
    bool plain_loopback = false;
  };

  explicit Server(Options options);
  ~Server();  // ends all streams and calls
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  // For connections made from here on; those that there are stay. Of the same authority.
  void renew(Credentials credentials);
  // Everything that can be called or opened, and by whom.
  struct Endpoint {
    std::string name;
    std::vector<std::string> roles;
  };
  std::vector<Endpoint> endpoints() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether an IP literal is of this machine's loopback.
bool is_loopback(const std::string& address);

}  // namespace trireme::rpc
