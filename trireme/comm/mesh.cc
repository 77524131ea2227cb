// SPDX-License-Identifier: Apache-2.0
// A member calls those of lower rank and is called by those of higher rank; strangers are sent away and change nothing.
#include "trireme/comm/mesh.h"

#include <poll.h>

#include <list>
#include <optional>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/line_limiter.h"
#include "trireme/comm/proof.h"

namespace trireme::comm {
namespace {

constexpr Seconds kVisitorTimeout{3};
constexpr Seconds kConnect{5};  // a member that has published its address listens there
constexpr Seconds kPause{0.02};
// More at a time and the oldest must go: a scanner shall not use up the descriptors.
constexpr std::size_t kVisitors = 256;

std::string key_of(const Group& group, int rank) { return fmt::format("comm/{}/{}/{}", group.generation, group.channel, rank); }

[[noreturn]] void not_come(const Group& group, int rank) {
  if (group.waits) group.waits->on_missed(rank);
  throw Error{deadline_exceeded, "rank {} of generation {} has not come to the rendezvous in time; does it still run?", rank,
              group.generation};
}

std::string endpoint_of_member(Store& store, const Group& group, int rank, const Deadline& deadline) {
  try {
    return store.get(key_of(group, rank), deadline.left());
  } catch (const Error& fault) {  // thrown again, with who did not come
    if (fault.code() != deadline_exceeded) throw;
    not_come(group, rank);
  }
}

Socket connect_to_member(const std::string& endpoint, const Group& group, int rank, const Deadline& deadline) {
  try {
    return connect_to(endpoint, deadline.at_most(kConnect));
  } catch (const Error& fault) {  // thrown again, with who it was
    if (group.waits) group.waits->on_missed(rank);
    throw Error{fault.code(), "rank {} does not answer: {}", rank, fault.what()};
  }
}

// A host that is flooded by strangers may send a member away too: it calls again.
Connection call(const std::string& endpoint, const Group& group, int host, const Deadline& deadline) {
  for (;;) {
    Socket socket = connect_to_member(endpoint, group, host, deadline);
    try {
      PairKeys keys = prove_to_host(socket, group, host, deadline);
      return {std::move(socket), std::move(keys)};
    } catch (const Error& fault) {  // the peer may not listen yet
      if (fault.code() == deadline_exceeded || deadline.passed()) not_come(group, host);
      if (fault.code() != unavailable) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

// Goes on after a host that does not share the key, so that the others learn of it too.
void call_hosts(Store& store, const Group& group, const Deadline& deadline, std::vector<Connection>& members) {
  std::optional<Error> wrong_key;
  for (int host = 0; host < group.rank; ++host) {
    const PeerWait::Scope waits(group.waits.get(), host);
    try {
      members[static_cast<std::size_t>(host)] = call(endpoint_of_member(store, group, host, deadline), group, host, deadline);
    } catch (const Error& fault) {  // thrown below, when the other hosts have been called
      if (fault.code() != unauthenticated) throw;
      wrong_key = fault;
    }
  }
  if (wrong_key) throw Error{*wrong_key};
}

// Those who call this member.
class Reception {
 public:
  Reception(const Socket& listener, const Group& group, std::vector<Connection>& members)
      : listener_(listener), group_(group), members_(members), missing_(group.size - group.rank - 1), strangers_(group.report_stranger) {}

  void receive_all(const Deadline& deadline) {
    while (missing_ > 0) {
      deadline.check_cancellation();
      if (deadline.passed()) give_up();
      const PeerWait::Scope waits(group_.waits.get(), first_missing());
      wait(deadline);
      let_in(deadline);
      visitors_.remove_if([&](Visitor& visitor) { return is_late(visitor) || is_done_with(visitor); });
      strangers_.look();
    }
  }

 private:
  // A limited number, so that those who are in get their turn however many come.
  void let_in(const Deadline& deadline) {
    for (std::size_t i = 0; i < kVisitors; ++i) {
      Socket socket = accept_from(listener_);
      if (!socket.open()) return;
      visitors_.emplace_back(std::move(socket), group_, deadline.at_most(kVisitorTimeout));
      if (visitors_.size() > kVisitors) {
        send_away(visitors_.front(), "too many are calling");
        visitors_.pop_front();
      }
    }
  }

  void wait(const Deadline& deadline) const {
    std::vector<pollfd> wanted{{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0},
                               {.fd = deadline.cancellation_descriptor(), .events = POLLIN, .revents = 0}};
    for (const auto& visitor : visitors_) wanted.push_back({.fd = visitor.socket().descriptor(), .events = POLLIN, .revents = 0});
    const Deadline soon = deadline.at_most(visitors_.empty() ? deadline.left() : Seconds{0.5});
    ::poll(wanted.data(), wanted.size(), static_cast<int>(milliseconds_of(soon.left()).count()));
  }

  bool is_late(const Visitor& visitor) {
    if (!visitor.deadline().passed()) return false;
    send_away(visitor, "it kept silent");
    return true;
  }

  bool is_done_with(Visitor& visitor) {
    try {
      const std::optional<int> rank = visitor.advance();
      if (rank) admit(*rank, {visitor.take_socket(), visitor.keys()});
      return rank.has_value();
    } catch (const Error& fault) {                  // a stranger's fault must not end the meeting
      if (fault.code() == invalid_argument) throw;  // a true member, and waiting does not change its settings
      if (fault.code() == unauthenticated) forger_ = fault;
      send_away(visitor, fault.what());
      return true;
    }
  }

  void send_away(const Visitor& visitor, std::string_view why) {
    strangers_.add(fmt::format("{} called at the port of the collectives and was sent away: {}", visitor.address(), why));
  }

  // A member that calls again has given up its first connection.
  void admit(int rank, Connection connection) {
    auto& place = members_[static_cast<std::size_t>(rank)];
    if (!place.socket.open()) --missing_;
    place = std::move(connection);
  }

  [[noreturn]] void give_up() const {
    if (forger_) throw Error{*forger_};
    not_come(group_, first_missing());
  }

  // There is one.
  int first_missing() const {
    int rank = group_.rank + 1;
    while (members_[static_cast<std::size_t>(rank)].socket.open()) ++rank;
    return rank;
  }

  const Socket& listener_;
  const Group& group_;
  std::vector<Connection>& members_;
  int missing_;
  LineLimiter strangers_;
  std::list<Visitor> visitors_;
  std::optional<Error> forger_;
};

}  // namespace

std::vector<Connection> connect_mesh(Store& store, const Group& group, Seconds timeout) {
  const Deadline deadline(timeout, group.cancellation.get());
  const Socket listener = listen_on(group.address);
  store.set(key_of(group, group.rank), endpoint_of(listener));
  std::vector<Connection> members(static_cast<std::size_t>(group.size));
  call_hosts(store, group, deadline, members);
  Reception(listener, group, members).receive_all(deadline);
  return members;
}

}  // namespace trireme::comm
