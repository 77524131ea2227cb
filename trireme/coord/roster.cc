// SPDX-License-Identifier: Apache-2.0
// What a coordinator makes of each message, each silence and each broken connection.
#include "trireme/coord/roster.h"

#include <array>
#include <chrono>

#include "trireme/base/digest.h"

namespace trireme::coord {
namespace {

double time_of_day() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Event event_of(Event::Kind kind, const Connection& from) {
  Event event;
  event.kind = kind;
  event.node = from.node;
  event.generation = from.generation;
  event.info = from.info;
  event.progress = from.progress;
  return event;
}

bool is_same_process(const Connection& a, const Connection& b) {
  return a.info.process == b.info.process && a.info.host == b.info.host && a.info.process != 0;
}

struct Difference {
  std::string_view what;
  const std::string& theirs;
  const std::string& ours;
  std::string_view advice;
};

// The first in which two fingerprints differ.
std::optional<Difference> difference(const JobFingerprint& theirs, const JobFingerprint& ours) {
  const std::array<Difference, 4> all{{
      {"version of the program", theirs.version, ours.version, "install the same on every machine"},
      {"job", theirs.job, ours.job, "start every node from the same job file with the same options"},
      {"model", theirs.model, ours.model, "the same job gives another model there: install the same program on every machine"},
      {"data", theirs.data, ours.data,
       "compare the data files of both machines, or remove those of the node so that it gets them from here"},
  }};
  for (const Difference& one : all)
    if (one.theirs != one.ours) return one;
  return std::nullopt;
}

}  // namespace

Roster::Roster(const Coordinator::Options& options, FencedStore& store, EventQueue<Event>& events)
    : version_(options.version),
      welcome_(options.welcome),
      silence_(options.silence),
      clock_(options.clock),
      store_(store),
      events_(events),
      fingerprint_(options.expected) {
  if (fingerprint_) fingerprint_owner_ = "the coordinator";
}

rpc::SessionListener Roster::open(const rpc::Peer& peer, std::shared_ptr<rpc::Session> session) {
  const auto entry = std::make_shared<Connection>();
  entry->node = peer.identity.name;
  entry->session = std::move(session);
  entry->last_message = clock_->now();
  const std::lock_guard lock(mutex_);
  entry->ticket = ++tickets_;
  connections_.insert(entry);
  return {.received = [this, entry](const std::string& bytes) { received(entry, bytes); },
          .closed = [this, entry](const Error&) { closed(entry); }};
}

void Roster::received(const Entry& from, const std::string& bytes) {
  const double time = time_of_day();  // the lock may be held for longer than the message was on its way
  const std::lock_guard lock(mutex_);
  if (from->over) return;
  from->last_message = clock_->now();
  try {
    handle(from, parsed<wire::ToCoordinator>(bytes), time);
  } catch (const Error& error) {  // a handler of messages: the node learns of its fault
    refuse(from, error);
  }
}

void Roster::closed(const Entry& from) {
  const std::lock_guard lock(mutex_);
  if (!from->over) {
    if (from->here) report(from->leaving ? Event::Kind::left : Event::Kind::lost, *from, from->leaving ? "" : "connection closed");
    end(from, Error{ok, "closed"});
  }
  connections_.erase(from);
  closed_one_.notify_all();
}

void Roster::handle(const Entry& from, const wire::ToCoordinator& message, double time) {
  using What = wire::ToCoordinator::WhatCase;
  if (message.what_case() == What::kHello) return on_hello(from, message.hello());
  if (!from->here) throw Error{failed_precondition, "node '{}' must say hello first", from->node};
  if (message.what_case() == What::kLeave) return on_leave(from);
  if (message.what_case() == What::kClockProbe) return echo(*from, message.clock_probe(), time);
  // It says that the node lives and what it is at, also if that is a step of a generation that is over.
  if (message.what_case() == What::kHeartbeat) return on_heartbeat(*from, message);
  if (is_fenced(*from, message.generation())) {
    ++refused_;
    return;
  }
  switch (message.what_case()) {
    case What::kReady:
      return on_ready(from, from_wire(message.ready()));
    case What::kMessage:
      return on_message(*from, message.message());
    case What::kFailure:
      return on_failure(*from, message.failure());
    default:
      throw Error{invalid_argument, "node '{}' says what this coordinator does not understand", from->node};
  }
}

void Roster::on_heartbeat(Connection& from, const wire::ToCoordinator& message) {
  from.progress = from_wire(message.heartbeat());
  from.progress.generation = message.generation();
}

void Roster::on_hello(const Entry& from, const wire::Hello& hello) {
  if (from->here) throw Error{failed_precondition, "node '{}' has said hello already", from->node};
  from->info = from_wire(hello);
  if (hello.version() != version_)
    throw Error{failed_precondition, "node '{}' on {} has version {} of the program, the coordinator {}: install the same on every machine",
                from->node,          from->info.host,
                hello.version(),     version_};
  if (const auto other = here_.find(from->node); other != here_.end() && is_same_process(*other->second, *from)) {
    // It has noticed the end of its former connection before we did.
    const Entry former = other->second;
    report(Event::Kind::lost, *former, "it has rejoined");
    end(former, Error{aborted, "node '{}' has rejoined", from->node});
  }
  if (const auto other = here_.find(from->node); other != here_.end())
    throw Error{already_exists, "there is a node '{}' already, on {} (process {}): each needs a name of its own", from->node,
                other->second->info.host, other->second->info.process};
  from->here = true;
  here_[from->node] = from;
  wire::ToNode welcome;
  welcome.mutable_welcome()->set_job(welcome_);
  welcome.mutable_welcome()->set_ticket(from->ticket);
  welcome.mutable_welcome()->set_silence(silence_.count());
  from->session->send(welcome.SerializeAsString());
  report(Event::Kind::hello, *from);
}

void Roster::on_ready(const Entry& from, const JobFingerprint& fingerprint) {
  if (!fingerprint_) {
    fingerprint_ = fingerprint;
    fingerprint_owner_ = fmt::format("node '{}' on {}", from->node, from->info.host);
  }
  if (const auto wrong = difference(fingerprint, *fingerprint_))
    throw Error{failed_precondition, "the {} of node '{}' on {} is {}, that of {} is {}: {}",
                wrong->what,         from->node,
                from->info.host,     wrong->theirs,
                fingerprint_owner_,  wrong->ours,
                wrong->advice};
  from->ready = true;
  Event event = event_of(Event::Kind::ready, *from);
  event.fingerprint = fingerprint;
  events_.push(std::move(event));
}

void Roster::on_message(const Connection& from, const wire::CoordinationMessage& message) {
  Event event = event_of(Event::Kind::message, from);
  event.message = from_wire(message);
  events_.push(std::move(event));
}

void Roster::on_failure(const Connection& from, const wire::Failure& failure) {
  Event event = event_of(Event::Kind::failed, from);
  event.failure = from_wire(failure);
  events_.push(std::move(event));
}

void Roster::on_leave(const Entry& from) {
  report(Event::Kind::left, *from);
  end(from, Error{ok, "left"});
}

void Roster::echo(const Connection& to, const wire::ClockProbe& probe, double received) {
  wire::ToNode message;
  message.mutable_clock_echo()->set_sent(probe.sent());
  message.mutable_clock_echo()->set_received(received);
  message.mutable_clock_echo()->set_answered(time_of_day());
  to.session->send(message.SerializeAsString());
}

// What a node says in a generation counts only while that holds; before its first, it is in none.
bool Roster::is_fenced(const Connection& from, std::uint64_t generation) const {
  return generation != from.generation || (generation != 0 && generation != current_.number);
}

void Roster::refuse(const Entry& from, const Error& why) {
  report(Event::Kind::refused, *from, why.what());
  end(from, why);
}

void Roster::end(const Entry& from, const Error& why) {
  from->over = true;
  if (from->here) here_.erase(from->node);
  store_.drop(from->ticket);
  from->session->close(why);
}

void Roster::report(Event::Kind kind, const Connection& from, const std::string& reason) {
  Event event = event_of(kind, from);
  event.reason = reason;
  events_.push(std::move(event));
}

void Roster::announce(const Generation& generation) {
  wire::ToNode message;
  *message.mutable_generation() = to_wire(generation);
  const std::string bytes = message.SerializeAsString();
  const std::lock_guard lock(mutex_);
  ensure(generation.number > current_.number, "generations are numbered upwards");
  // Members that are left out learn that theirs is over, or they would go on with it until they miss the others.
  for (const Member& member : current_.members)
    if (const auto found = here_.find(member.node); found != here_.end() && generation.rank_of(member.node) < 0)
      found->second->session->send(bytes);
  current_ = generation;
  store_.begin(generation.number);
  for (const Member& member : generation.members) {
    const auto found = here_.find(member.node);
    // Not ready: it was lost and has rejoined meanwhile, as the events say.
    if (found == here_.end() || !found->second->ready) continue;
    found->second->generation = generation.number;
    found->second->session->send(bytes);
  }
}

void Roster::send(const std::string& node, const wire::ToNode& message) {
  const std::lock_guard lock(mutex_);
  if (const auto found = here_.find(node); found != here_.end()) found->second->session->send(message.SerializeAsString());
}

void Roster::send_to_members(const wire::ToNode& message) {
  const std::lock_guard lock(mutex_);
  for (const Member& member : current_.members)
    if (const auto found = here_.find(member.node); found != here_.end()) found->second->session->send(message.SerializeAsString());
}

void Roster::dismiss(const std::string& node) {
  wire::ToNode message;
  message.mutable_dismissal();
  const std::lock_guard lock(mutex_);
  const auto found = here_.find(node);
  if (found == here_.end()) return;
  found->second->leaving = true;
  found->second->session->send(message.SerializeAsString());
}

void Roster::look(Seconds now, Seconds late) {
  wire::ToNode beat;
  beat.mutable_beat();
  const std::string bytes = beat.SerializeAsString();
  const std::lock_guard lock(mutex_);
  const bool beats = now - last_beat_ >= silence_ / kHeartbeatsPerSilence;
  if (beats) last_beat_ = now;
  for (const Entry& entry : connections_) {
    if (entry->over) continue;
    entry->last_message += late;
    if (now - entry->last_message < silence_) {
      if (entry->here && beats) entry->session->send(bytes);
      continue;
    }
    const std::string reason = fmt::format("no heartbeat for {:g} s", silence_.count());
    if (entry->here) report(Event::Kind::lost, *entry, reason);
    end(entry, Error{aborted, "node '{}' was declared lost: {}", entry->node, reason});
  }
}

void Roster::check_caller(const std::string& node, const Stamp& stamp, Coordinator::Method::Callers callers) const {
  const std::lock_guard lock(mutex_);
  const auto found = here_.find(node);
  if (found == here_.end() || found->second->ticket != stamp.ticket)
    throw Error{failed_precondition, "node '{}' is not a member: it must say hello, again if it was declared lost", node};
  if (callers == Coordinator::Method::Callers::anyone) return;
  if (current_.number == 0) throw Error{failed_precondition, "node '{}' must wait for the first generation", node};
  if (stamp.generation != current_.number || found->second->generation != current_.number)
    throw Error{failed_precondition, "node '{}' calls from generation {}, but {} holds", node, stamp.generation, current_.number};
}

void Roster::renew(Seconds now, Seconds age, const Coordinator::Renewal& renewal) {
  std::vector<Entry> due;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, entry] : here_) {
      if (entry->renewed && now - *entry->renewed < age) continue;
      entry->renewed = now - 0.9 * age;  // if it fails it is tried again soon, but not at every look
      due.push_back(entry);
    }
  }
  for (const Entry& entry : due) {
    rpc::Credentials fresh = renewal.issue({.role = "node", .name = entry->node}, {entry->info.address});
    wire::ToNode message;
    message.mutable_renewal()->set_certificate(fresh.certificate);
    message.mutable_renewal()->set_private_key(fresh.key);
    std::string bytes = message.SerializeAsString();
    {
      const std::lock_guard lock(mutex_);
      entry->renewed = now;
      if (!entry->over) entry->session->send(bytes);
    }
    for (std::string* secret : {&fresh.key, message.mutable_renewal()->mutable_private_key(), &bytes}) wipe(*secret);
  }
}

void Roster::close_all(const Error& why, Seconds patience) {
  std::unique_lock lock(mutex_);
  for (const Entry& entry : connections_)
    if (!entry->over) end(entry, why);
  closed_one_.wait_for(lock, patience, [this] { return connections_.empty(); });
}

std::vector<std::string> Roster::nodes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, entry] : here_) out.push_back(name);
  return out;
}

Progress Roster::progress(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = here_.find(node);
  return found == here_.end() ? Progress{} : found->second->progress;
}

std::uint64_t Roster::refused_messages() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace trireme::coord
