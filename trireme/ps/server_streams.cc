// SPDX-License-Identifier: Apache-2.0
// What workers say to a server.
#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/finite.h"
#include "trireme/base/random.h"
#include "trireme/ps/server_state.h"
#include "trireme/ps/values.h"

namespace trireme::ps {
namespace {

void send_frame(const Connection& to, const Frame& frame, std::int64_t urgency) {
  to.session->send({.head = head_of(frame), .urgency = urgency});
}

// Notes that a piece of a push has come.
void arrive(Connection& at, std::size_t piece, std::uint64_t push) {
  if (push < at.push) throw Error{invalid_argument, "worker '{}' began push {} and then sent a piece of push {}", at.name, at.push, push};
  if (push > at.push) {
    at.push = push;
    at.arrived = 0;
  }
  if (std::exchange(at.latest[piece], push) == push)
    throw Error{invalid_argument, "worker '{}' sent a piece of push {} twice on one stream", at.name, push};
  ++at.arrived;
}

}  // namespace

void Server::State::received(const std::shared_ptr<Connection>& from, const rpc::Incoming& message) {
  const Frame frame = frame_of(message);
  bytes_in += static_cast<std::int64_t>(message.size());
  Connections touched;
  if (frame.kind == Kind::hello) {
    const std::shared_ptr<Connection> before = greet(from, frame);
    if (before != nullptr) before->session->close({aborted, "worker '{}' has opened another stream", from->name});
    return;
  }
  if (!from->is_known) throw Error{failed_precondition, "worker '{}' must say hello before anything else", from->name};
  if (from->generation != generation)
    throw Error{failed_precondition, "generation {} is over; it is {} now", from->generation, generation.load()};
  if (from->is_reader && frame.kind != Kind::fetch)
    throw Error{permission_denied, "'{}' is not a worker of generation {}: it may fetch, and nothing else", from->name, from->generation};
  switch (frame.kind) {
    case Kind::ask:
      return send_frame(*from, grant(*from), kUrgent);
    case Kind::done:
    case Kind::drop:
      return send_frame(*from, note(*from, frame), kUrgent);
    default:
      break;
  }
  try {
    for (const auto& connection : handle(from, frame, message)) flush(connection);
  } catch (const Error& error) {  // a handler of messages: the stream ends with it, and this kind is remembered
    if (error.code() == out_of_range) refuse_for_good(error);
    throw;
  }
}

// Values that are not finite end the training, whichever node reports first: the worker learns it from its stream, which ends, the server
// from its next wait.
void Server::State::refuse_for_good(const Error& why) {
  const std::lock_guard lock(desk_mutex);
  if (!refusal) refusal = why;
  desk_changed.notify_all();
}

Connections Server::State::handle(const std::shared_ptr<Connection>& from, const Frame& frame, const rpc::Incoming& message) {
  const std::shared_lock together(stretch_mutex);
  if (from->generation != generation) throw Error{failed_precondition, "generation {} is over", from->generation};
  switch (frame.kind) {
    case Kind::push:
      return receive_push(*from, frame, message);
    case Kind::fetch:
      return fetch(from, frame);
    case Kind::retire:
      return retire(*from);
    default:
      throw Error{invalid_argument, "worker '{}' sent a frame of kind {}, which only servers send", from->name,
                  static_cast<std::uint32_t>(frame.kind)};
  }
}

// Returns the stream that the worker had before, if any.
std::shared_ptr<Connection> Server::State::greet(const std::shared_ptr<Connection>& from, const Frame& frame) {
  const std::shared_lock together(stretch_mutex);
  if (from->is_known) throw Error{failed_precondition, "worker '{}' said hello twice", from->name};
  if (frame.generation != generation || generation == 0)
    throw Error{failed_precondition, "worker '{}' is of generation {}, but it is {} now", from->name, frame.generation, generation.load()};
  const std::lock_guard lock(desk_mutex);
  const auto member = std::find_if(members.begin(), members.end(), [&](const Member& known) { return known.name == from->name; });
  from->is_reader = member == members.end();
  if (from->is_reader && std::ranges::find(stretch.readers, from->name) == stretch.readers.end())
    throw Error{permission_denied, "'{}' is not a node of generation {}", from->name, frame.generation};
  from->generation = frame.generation;
  if (from->is_reader) {
    from->is_known = true;
    return nullptr;
  }
  from->number = static_cast<std::size_t>(member - members.begin());
  from->seat = member->seat;
  from->latest.assign(holdings.size(), 0);
  from->is_known = true;
  member->held.clear();
  member->is_whole = false;
  return std::exchange(member->connection, from);
}

void Server::State::closed(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(desk_mutex);
  connections.erase(std::remove(connections.begin(), connections.end(), connection), connections.end());
  for (Member& member : members) {
    if (member.connection != connection) continue;
    member.connection = nullptr;
    member.held.clear();
  }
}

std::size_t Server::State::own_piece(const Connection& from, std::uint32_t piece) const {
  if (piece >= own.size() || own[piece] == kNotOurs)
    throw Error{invalid_argument, "worker '{}' means piece {}, which server {} does not have", from.name, piece, setup.number};
  return own[piece];
}

bool Server::State::is_retired(const Connection& from) {
  const std::lock_guard lock(desk_mutex);
  return clocks.is_retired(static_cast<int>(from.number));
}

// Nothing: there are parts to come.
std::shared_ptr<float[]> Server::State::receive_values(Connection& from, std::size_t piece, const Frame& frame,
                                                       const rpc::Incoming& message) {
  const std::int64_t size = holdings.piece(piece).size();
  if (frame.begin < 0 || frame.begin >= frame.end || frame.end > size)
    throw Error{invalid_argument, "worker '{}' sent values {} to {} of a piece of {}", from.name, frame.begin, frame.end, size};
  const bool is_first = frame.begin == 0;
  Connection::Assembly assembly;
  if (is_first) assembly = {.id = frame.id, .memory = holdings.take_buffer()};
  if (!is_first && from.assemblies.contains(piece)) assembly = from.assemblies.extract(piece).mapped();
  if (assembly.memory == nullptr || assembly.id != frame.id || assembly.end != frame.begin)
    throw Error{invalid_argument, "worker '{}' sent values {} to {} of a push without those before", from.name, frame.begin, frame.end};
  decode(message, stretch.rules.wire, {assembly.memory.get() + frame.begin, static_cast<std::size_t>(frame.end - frame.begin)});
  assembly.end = frame.end;
  if (assembly.end == size) return assembly.memory;
  from.assemblies.insert_or_assign(piece, std::move(assembly));
  return nullptr;
}

// From its first values to the last that were taken in; the answer goes out after that.
void Server::State::trace_push(Connection& from, const Frame& frame) const {
  if (setup.spans == nullptr) return;
  const auto worker = hash_text(from.name);
  const auto number = static_cast<std::uint64_t>(setup.number);
  setup.spans->add({.name = "apply",
                    .category = "message",
                    .track = fmt::format("pushes of node {}", from.name),
                    .begin = from.traced_since,
                    .end = setup.clock.now().count(),
                    .sends = observe::flow_of("answer", frame.id, worker, number, 0),
                    .receives = observe::flow_of("push", frame.id, worker, number, 0)});
}

Connections Server::State::receive_push(Connection& from, const Frame& frame, const rpc::Incoming& message) {
  const std::size_t piece = own_piece(from, frame.piece);
  if (frame.id == 0 || frame.samples < 1)
    throw Error{invalid_argument, "worker '{}' sent push {} with {} samples", from.name, frame.id, frame.samples};
  if (is_retired(from)) throw Error{failed_precondition, "worker '{}' has retired from this stretch and pushes again", from.name};
  std::vector<Verdict> verdicts;
  {
    const Busy busy(*this);
    if ((frame.flags & kTraced) != 0 && std::exchange(from.traced, frame.id) != frame.id) from.traced_since = setup.clock.now().count();
    const bool is_void = (frame.flags & kVoid) != 0;
    const std::shared_ptr<float[]> buffer = is_void ? holdings.take_buffer() : receive_values(from, piece, frame, message);
    if (buffer == nullptr) return {};
    const std::span gradients{buffer.get(), static_cast<std::size_t>(holdings.piece(piece).size())};
    if (!is_void && !are_finite(gradients))
      throw Error{out_of_range, "worker '{}' pushed gradients to piece {} that are not all finite; they were not taken", from.name,
                  frame.piece};
    arrive(from, piece, frame.id);
    holdings.push(piece,
                  {.seat = from.seat,
                   .id = frame.id,
                   .version = frame.version,
                   .samples = frame.samples,
                   .rate = frame.rate,
                   .lease = frame.lease,
                   .half = frame.half,
                   .first = frame.root != 0 ? frame.root : frame.lease,
                   .is_void = is_void},
                  gradients, verdicts);
    if (from.traced == frame.id && from.arrived == holdings.size()) trace_push(from, frame);
  }
  return answer(verdicts, &from);
}

Connections Server::State::fetch(const std::shared_ptr<Connection>& from, const Frame& frame) const {
  const std::size_t piece = own_piece(*from, frame.piece);
  if (frame.slot < -1 || frame.slot >= static_cast<std::int32_t>(holdings.slots()))
    throw Error{invalid_argument, "worker '{}' asks for slot {}; there are {}", from->name, frame.slot, holdings.slots()};
  from->add({.piece = piece, .frame = {.kind = Kind::fetched, .piece = frame.piece, .slot = frame.slot}});
  return {from};
}

Frame Server::State::grant(const Connection& from) {
  const std::shared_lock together(stretch_mutex);
  const std::lock_guard lock(work_mutex);
  if (!ledger) throw Error{failed_precondition, "worker '{}' asks server {} for work, which has none", from.name, setup.number};
  const std::optional<Lease> lease = ledger->next(static_cast<int>(from.number));
  if (!lease) return {.kind = Kind::granted};
  takers[lease->id] = from.seat;
  return {.kind = Kind::granted,
          .lease = lease->id,
          .begin = lease->begin,
          .end = lease->end,
          .round = lease->round,
          .half = lease->half,
          .root = lease->root};
}

Frame Server::State::note(const Connection& from, const Frame& frame) {
  const std::shared_lock together(stretch_mutex);
  const std::lock_guard lock(work_mutex);
  if (!ledger) throw Error{failed_precondition, "worker '{}' reports work to server {}, which has none", from.name, setup.number};
  // Not out: it was reported before, and the answer was lost.
  if (const std::optional<Lease> lease = ledger->find(frame.lease)) {
    takers.erase(frame.lease);
    if (frame.kind == Kind::drop) {
      ledger->give_back(frame.lease);
    } else {
      ledger->done(frame.lease);
      done.push_back({.worker = from.name,
                      .lease = *lease,
                      .samples = frame.samples,
                      .correct = frame.correct,
                      .loss = frame.loss,
                      .penalty = frame.penalty,
                      .rate = frame.rate,
                      .compute_seconds = frame.compute_seconds,
                      .wait_seconds = frame.wait_seconds,
                      .seconds = frame.seconds,
                      .staleness = frame.staleness,
                      .stretch = stretch.updates,
                      .first_lease = stretch.rules.sums() ? 0 : lease->first()});
      if ((frame.flags & kVoid) != 0) done.back().faulty.push_back(from.name);
    }
  }
  return {.kind = Kind::noted, .lease = frame.lease};
}

Connections Server::State::retire(Connection& from) {
  Connections touched;
  {
    const std::lock_guard lock(desk_mutex);
    clocks.retire(static_cast<int>(from.number));
    set_needed();
    release(touched);
  }
  std::vector<Verdict> verdicts;
  if (stretch.rules.sums()) holdings.complete_rounds(verdicts);
  Connections more = answer(verdicts, nullptr);
  touched.insert(touched.end(), more.begin(), more.end());
  // Not before: the thread that awaits this may begin another stretch.
  desk_changed.notify_all();
  return touched;
}

}  // namespace trireme::ps
