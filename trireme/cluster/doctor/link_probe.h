// SPDX-License-Identifier: Apache-2.0
// Tries a TCP connection between two machines: can it be made, how long is a round trip, how fast does data flow.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace trireme::cluster {

// Answers tries on one address of this machine until it is destroyed or its time is over. Only those who know the token
// are answered.
class LinkListener {
 public:
  // `address` must be one of this machine's; throws if it can't be listened on.
  LinkListener(const std::string& address, std::string token, std::chrono::milliseconds lifetime);
  ~LinkListener();
  LinkListener(const LinkListener&) = delete;
  LinkListener& operator=(const LinkListener&) = delete;

  std::int64_t port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct LinkResult {
  std::string fault;           // empty: it works; else "timeout", "refused", "unreachable", "unresolved" or "broken"
  std::string words;           // the system's
  double round_trip = 0;       // seconds, the best of several
  double bits_per_second = 0;  // as the receiver counted them
};

struct LinkTry {
  std::string address;
  std::int64_t port = 0;
  std::string token;
  std::chrono::milliseconds sending{300};  // 0: only the round trip is measured
  std::chrono::milliseconds connecting{3000};
};

// Takes at most the two times and a few seconds for what is on the way.
LinkResult try_link(const LinkTry& link);

}  // namespace trireme::cluster
