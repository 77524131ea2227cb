// SPDX-License-Identifier: Apache-2.0
// When a server answers: at once, when a round is complete, or when slower workers have come after.
#include <algorithm>
#include <utility>

#include "trireme/base/failpoint.h"
#include "trireme/ps/server_state.h"
#include "trireme/ps/values.h"

namespace trireme::ps {
namespace {

void touch(Connections& touched, const std::shared_ptr<Connection>& connection) {
  if (std::find(touched.begin(), touched.end(), connection) == touched.end()) touched.push_back(connection);
}

// A worker that is within this bound may go on, whatever the others do.
std::int64_t sure_bound(const Rules& rules) { return rules.mode == Mode::dssp ? rules.staleness_min : rules.staleness; }

}  // namespace

// Returns the streams that have something to send. `from` is where the push came from that brought the verdicts.
Connections Server::State::answer(const std::vector<Verdict>& verdicts, const Connection* from) {
  for (const Applied& push : count(verdicts)) {
    if (setup.applied) setup.applied(push);
    failpoint("ps.after_apply_before_ack");
  }
  Connections touched;
  const std::lock_guard lock(desk_mutex);
  for (const Verdict& verdict : verdicts) route(verdict, from, touched);
  return touched;
}

// Which pushes have been decided at all pieces.
std::vector<Applied> Server::State::count(const std::vector<Verdict>& verdicts) {
  std::vector<Applied> finished;
  const std::lock_guard lock(desk_mutex);
  for (const Verdict& verdict : verdicts) {
    if (!verdict.is_new) continue;
    if (verdict.piece == 0) ++load.staleness[std::min(static_cast<std::size_t>(verdict.staleness), kStalenessBins - 1)];
    Progress& push = progress[verdict.seat];
    if (push.id != verdict.id) push = {.id = verdict.id, .lease = verdict.lease, .samples = verdict.samples};
    if (verdict.is_applied) ++push.applied;
    push.taken = push.taken || verdict.taken;
    if (++push.pieces < holdings.size()) continue;
    ++load.pushes;
    if (!push.taken) ++load.dropped;
    const std::size_t number = number_of[verdict.seat];
    if (number != kNotOurs) finished.push_back(applied_of(members[number].name, push));
  }
  return finished;
}

Applied Server::State::applied_of(const std::string& worker, const Progress& push) const {
  return {.worker = worker,
          .id = push.id,
          .taken = push.taken,
          .is_whole = push.pieces == holdings.size(),
          .stretch = stretch.updates,
          .lease = push.lease,
          .samples = push.samples,
          .pieces = push.applied,
          .all = holdings.size()};
}

// With desk_mutex held, as all that follow up to go_on().
void Server::State::route(const Verdict& verdict, const Connection* from, Connections& touched) {
  const std::size_t number = number_of[verdict.seat];
  if (number == kNotOurs) return;
  Member& member = members[number];
  if (member.connection == nullptr) return;
  const std::size_t piece = setup.map->pieces_of(setup.number)[verdict.piece];
  const Reply reply{.piece = verdict.piece,
                    .frame = {.kind = Kind::values,
                              .piece = static_cast<std::uint32_t>(piece),
                              .id = verdict.id,
                              .flags = (verdict.taken ? kTaken : 0) | (verdict.is_void ? kVoid : 0),
                              .staleness = verdict.staleness}};
  const bool waits = stretch.rules.mode != Mode::async && !stretch.rules.sums();
  if (!waits) {
    member.connection->add(reply);
    return touch(touched, member.connection);
  }
  if (member.connection.get() != from) return;  // it has opened another stream, and pushes there again
  member.held.push_back(reply);
  pace(*from, number, touched);
}

void Server::State::pace(const Connection& from, std::size_t number, Connections& touched) {
  Member& member = members[number];
  const auto worker = static_cast<int>(number);
  member.is_whole = from.arrived == holdings.size();
  if (member.is_whole && member.paced != from.push && !clocks.is_retired(worker)) {
    clocks.pushed(worker, setup.clock.now());
    member.paced = from.push;
    member.held_since = setup.clock.now();
    return release(touched);
  }
  const bool is_counted = member.paced == from.push;
  if (is_counted ? clocks.may_go_on(worker) : clocks.ahead(worker) + 1 <= sure_bound(stretch.rules)) go_on(number, touched);
}

// All whose pushes are whole, if they may.
void Server::State::release(Connections& touched) {
  for (std::size_t number = 0; number < members.size(); ++number) {
    Member& member = members[number];
    if (member.held.empty() || !member.is_whole || !clocks.may_go_on(static_cast<int>(number))) continue;
    load.most_ahead = std::max(load.most_ahead, clocks.ahead(static_cast<int>(number)));
    load.held_seconds += (setup.clock.now() - member.held_since).count();
    go_on(number, touched);
  }
}

void Server::State::go_on(std::size_t number, Connections& touched) {
  Member& member = members[number];
  if (member.connection == nullptr) return;
  for (const Reply& reply : member.held) member.connection->add(reply);
  member.held.clear();
  touch(touched, member.connection);
}

// Without locks. A worker that takes its answers slowly has only its share of them on the way: the others' don't wait for it.
void Server::State::flush(const std::shared_ptr<Connection>& connection) {
  for (;;) {
    if (connection->on_the_way >= share) {
      connection->is_starved = true;
      if (connection->on_the_way >= share) return;
    }
    connection->is_starved = false;
    const std::optional<Reply> reply = connection->next();
    if (!reply) return;
    Holdings::Copy copy;
    {
      const std::shared_lock together(stretch_mutex);
      if (connection->generation != generation) return;
      const Busy busy(*this);
      const comm::WireType wire = reply->frame.kind == Kind::fetched ? comm::WireType::f32 : stretch.rules.wire;
      copy = holdings.copy(reply->piece, reply->frame.slot, wire);
    }
    send(connection, *reply, std::move(copy));
  }
}

void Server::State::send(const std::shared_ptr<Connection>& to, Reply reply, Holdings::Copy copy) {
  const Piece& piece = holdings.piece(reply.piece);
  const auto loan = std::make_shared<const Loan>(std::move(copy.memory), to, waker);
  const auto value_bytes = static_cast<std::int64_t>(copy.bytes.size()) / piece.size();
  reply.frame.version = copy.version;
  bytes_out += static_cast<std::int64_t>(copy.bytes.size());
  for_parts(piece.size(), [&](std::int64_t begin, std::int64_t end) {
    reply.frame.begin = begin;
    reply.frame.end = end;
    const auto body =
        copy.bytes.subspan(static_cast<std::size_t>(begin * value_bytes), static_cast<std::size_t>((end - begin) * value_bytes));
    to->session->send({.head = head_of(reply.frame), .body = body, .keeper = loan, .urgency = -piece.begin});
  });
}

// The thread that sends what had to wait.
void Server::State::flush_starved() {
  for (;;) {
    {
      std::unique_lock lock(waker->mutex);
      waker->changed.wait(lock, [this] { return waker->has_ended || waker->is_due; });
      if (waker->has_ended) return;
      waker->is_due = false;
    }
    Connections all;
    {
      const std::lock_guard lock(desk_mutex);
      all = connections;
    }
    for (const auto& connection : all)
      if (connection->is_known && connection->is_starved) flush(connection);
  }
}

}  // namespace trireme::ps
