// SPDX-License-Identifier: Apache-2.0
// The connections of a coordinator and what each of them has said so far.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/coord/coordinator.h"
#include "trireme/coord/event_queue.h"
#include "trireme/coord/fenced_store.h"
#include "trireme/rpc/session.h"

namespace trireme::coord {

// One stream of one node, from its opening to its end.
struct Connection {
  std::string node;
  std::shared_ptr<rpc::Session> session;
  std::uint64_t ticket = 0;
  Seconds last_message{0};         // when
  std::optional<Seconds> renewed;  // when it got its last certificate from us
  bool here = false;               // has said hello
  bool ready = false;              // its fingerprint is the job's
  bool leaving = false;            // dismissed, or has taken its leave
  bool over = false;               // what still comes from it counts for nothing
  std::uint64_t generation = 0;    // the last that was announced to it
  NodeInfo info;
  Progress progress;
};

// Turns what nodes say into events. All calls may come from any thread; a session's lock is taken inside the roster's, never the
// other way round.
class Roster {
 public:
  Roster(const Coordinator::Options& options, FencedStore& store, EventQueue<Event>& events);

  rpc::SessionListener open(const rpc::Peer& peer, std::shared_ptr<rpc::Session> session);
  void announce(const Generation& generation);
  void send(const std::string& node, const wire::ToNode& message);
  void send_to_members(const wire::ToNode& message);
  void dismiss(const std::string& node);
  // Lets nodes that have been silent for too long go; `late` is by how much this look comes too late.
  void look(Seconds now, Seconds late);
  // Throws failed_precondition unless the call comes from a node that is here and, for members, from the generation that holds.
  void check_caller(const std::string& node, const Stamp& stamp, Coordinator::Method::Callers callers) const;
  // Sends each node that is here a new certificate if its last one is older than `age`.
  void renew(Seconds now, Seconds age, const Coordinator::Renewal& renewal);
  void close_all(const Error& why, Seconds patience);

  std::vector<std::string> nodes() const;
  Progress progress(const std::string& node) const;
  std::uint64_t refused_messages() const;

 private:
  using Entry = std::shared_ptr<Connection>;

  void received(const Entry& from, const std::string& bytes);
  void closed(const Entry& from);
  // With the lock held:
  void handle(const Entry& from, const wire::ToCoordinator& message, double time);
  static void on_heartbeat(Connection& from, const wire::ToCoordinator& message);
  void on_hello(const Entry& from, const wire::Hello& hello);
  void on_ready(const Entry& from, const JobFingerprint& fingerprint);
  void on_message(const Connection& from, const wire::CoordinationMessage& message);
  void on_failure(const Connection& from, const wire::Failure& failure);
  void on_leave(const Entry& from);
  static void echo(const Connection& to, const wire::ClockProbe& probe, double received);
  bool is_fenced(const Connection& from, std::uint64_t generation) const;
  void refuse(const Entry& from, const Error& why);
  void end(const Entry& from, const Error& why);
  void report(Event::Kind kind, const Connection& from, const std::string& reason = "");

  const std::string version_;
  const std::string welcome_;
  const Seconds silence_;
  const std::shared_ptr<const Clock> clock_;
  FencedStore& store_;
  EventQueue<Event>& events_;

  mutable std::mutex mutex_;
  std::condition_variable closed_one_;
  std::set<Entry> connections_;
  std::map<std::string, Entry> here_;
  std::optional<JobFingerprint> fingerprint_;
  std::string fingerprint_owner_;
  Generation current_;
  std::uint64_t tickets_ = 0;
  Seconds last_beat_{0};
  std::uint64_t refused_ = 0;
};

}  // namespace trireme::coord
