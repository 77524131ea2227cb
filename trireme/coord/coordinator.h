// SPDX-License-Identifier: Apache-2.0
// Owns a job's membership: who is here, which generation holds, and what nodes report. It lives in `trireme train`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/coord/generation.h"
#include "trireme/coord/messages.h"
#include "trireme/rpc/credentials.h"

namespace trireme::coord {

struct Event {
  enum class Kind {
    hello,    // info; from here on it counts as being here
    ready,    // fingerprint
    refused,  // reason, in the words that the node was sent; it is gone
    message,  // message
    failed,   // failure; the node is still connected
    left,     // it took its leave, or was dismissed and went
    lost,     // reason ("connection closed", "no heartbeat for 5 s") and progress: its last reported position
  };
  Kind kind = Kind::hello;
  std::string node;
  // That held for the node when this happened; 0: none yet. By the time the event is taken from the queue another may hold: the caller
  // compares.
  std::uint64_t generation = 0;
  NodeInfo info;  // of the node, in every event
  JobFingerprint fingerprint;
  Message message;
  FailureReport failure;
  Progress progress;
  std::string reason;
};

// All calls may come from any thread. A name that is here already is refused; one that was lost may rejoin.
class Coordinator {
 public:
  // What nodes may call beside the membership's own methods, e.g. to read data. The handler runs on a thread of its own and may
  // wait, but not for ever; what it throws is thrown at the caller.
  struct Method {
    enum class Callers {
      anyone,   // every node that has said hello
      members,  // of the generation that holds: a call from an older one is refused
      users,    // no node: who has the job's secret, by hand
    };
    std::string name;
    Callers callers = Callers::members;
    std::function<std::string(const std::string& node, std::string request)> handler;
  };

  // Certificates for the time after the first ones: the coordinator's own and every node's are renewed at half of `validity`, a node's
  // also when it comes. Without `issue` no node that comes after the first ones have ended is let in.
  struct Renewal {
    std::function<rpc::Credentials(const rpc::Identity& identity, const std::vector<std::string>& hosts)> issue;
    Seconds validity{0};
  };

  struct Options {
    std::vector<std::string> addresses;  // of the interfaces to listen on
    int port = 0;                        // 0: any, the same on all of them
    rpc::Credentials credentials;
    std::string version;
    std::string welcome;                     // the job, handed to each node that says hello
    std::optional<JobFingerprint> expected;  // of every node; without it the first node's fingerprint is what the others must have
    Seconds silence{5};                      // a node silent for that long is lost; it sends a heartbeat five times as often
    std::vector<Method> methods;
    Renewal renewal{};
    std::function<void(const std::string&)> warn{};  // of strangers: one line per second at most; may be empty
    std::shared_ptr<const Clock> clock = std::make_shared<SteadyClock>();
  };

  explicit Coordinator(Options options);
  ~Coordinator();  // closes every connection
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  int port() const;
  std::vector<std::string> addresses() const;  // "10.0.0.1:4711"
  std::vector<std::string> endpoints() const;  // names of all methods and streams

  // In the order they happened; nothing after the timeout.
  std::optional<Event> next_event(Seconds timeout);

  // To its members, which must be here and ready; its number must be greater than that of the one before. From here on nothing is
  // accepted from a node that has not taken it up, and what the store held is forgotten. A member that is gone by now is
  // passed over: an event reports it.
  void announce(const Generation& generation);
  // To a node that is gone: nothing happens, for the same reason.
  void send(const std::string& node, const Message& message);
  void broadcast(const Message& message);  // to the members of the generation that holds
  // Orders a node to leave; the event `left` follows.
  void dismiss(const std::string& node);
  void dismiss_all();

  std::vector<std::string> nodes() const;  // that are here, in alphabetical order
  Progress progress(const std::string& node) const;
  std::uint64_t refused_messages() const;  // that came from an older generation

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::coord
