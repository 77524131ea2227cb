// SPDX-License-Identifier: Apache-2.0
// A worker's streams, and what servers say on them.
#include <algorithm>
#include <utility>

#include "trireme/ps/client_state.h"
#include "trireme/ps/values.h"

namespace trireme::ps {

void Client::connect(std::uint64_t generation, const Open& open, std::shared_ptr<const comm::Cancellation> cancellation) {
  state_->connect(generation, open, std::move(cancellation));
}

void Client::disconnect() { state_->disconnect(); }

void Client::State::connect(std::uint64_t next, const Open& open, std::shared_ptr<const comm::Cancellation> cancel) {
  disconnect();
  {
    const std::lock_guard lock(mutex);
    generation = next;
    cancellation = std::move(cancel);
  }
  Todo todo;
  for (int server = 0; server < setup.map->servers(); ++server) {
    auto link = std::make_shared<Link>();
    link->server = server;
    {
      const std::lock_guard lock(mutex);
      links.push_back(link);
    }
    try {
      link->session =
          open(server, {.received = [self = shared_from_this(), link](const rpc::Incoming& message) { self->received(link, message); },
                        .closed = [self = shared_from_this(), link](const Error& why) { self->closed(link, why); }});
    } catch (const Error&) {  // only noted, for the report of which server is gone
      const std::lock_guard lock(mutex);
      missed = server;
      link->is_closed = true;
      throw;
    }
  }
  {
    const std::lock_guard lock(mutex);
    for (std::size_t server = 0; server < links.size(); ++server)
      queue_frame({.kind = Kind::hello, .generation = generation}, server, todo);
    send_again(todo);
  }
  carry_out(std::move(todo));
}

void Client::State::disconnect() {
  std::vector<std::shared_ptr<Link>> old;
  {
    const std::lock_guard lock(mutex);
    for (const auto& link : links) link->is_leaving = true;
    old = links;
  }
  for (const auto& link : old)
    if (link->session != nullptr) link->session->close({cancelled, "the worker leaves"});
  std::unique_lock lock(mutex);
  const auto is_closed = [](const std::shared_ptr<Link>& link) { return link->is_closed; };
  // Bodies lie in our gradients: nothing may go on before the streams have let go of them.
  if (!changed.wait_for(lock, setup.timeout, [&] { return std::all_of(old.begin(), old.end(), is_closed); }))
    throw Error{deadline_exceeded, "streams to servers did not end within {} s", setup.timeout.count()};
  links.clear();
  fault.reset();
  missed = -1;
  is_asking = false;
  has_no_more = false;
  granted.clear();
  fetching = 0;
  changed.notify_all();  // a thread that waits for a lease must not wait for one that can't come
}

void Client::State::closed(const std::shared_ptr<Link>& link, const Error& why) {
  const std::lock_guard lock(mutex);
  link->is_closed = true;
  if (!link->is_leaving && !fault && why.code() == out_of_range) {
    fault = why;  // the server lives; what this worker sent is at fault
  } else if (!link->is_leaving && !fault) {
    fault = Error{unavailable, "parameter server {} is gone: {}", link->server, why.what()};
    missed = link->server;
  }
  changed.notify_all();
}

// Where these values belong.
std::span<float> Client::State::place_of(const Link& link, const Frame& frame, std::span<float> in) const {
  if (frame.piece >= pieces || setup.map->pieces()[frame.piece].server != link.server)
    throw Error{data_loss, "server {} speaks of piece {}, which is not its own", link.server, frame.piece};
  const Piece& piece = setup.map->pieces()[frame.piece];
  if (frame.begin < 0 || frame.begin >= frame.end || frame.end > piece.size())
    throw Error{data_loss, "server {} sent values {} to {} of a piece of {}", link.server, frame.begin, frame.end, piece.size()};
  return in.subspan(static_cast<std::size_t>(piece.begin + frame.begin), static_cast<std::size_t>(frame.end - frame.begin));
}

void Client::State::received(const std::shared_ptr<Link>& link, const rpc::Incoming& message) {
  const Frame frame = frame_of(message);
  switch (frame.kind) {
    case Kind::values:
      return receive_values(*link, frame, message);
    case Kind::fetched:
      return receive_fetched(*link, frame, message);
    case Kind::granted: {
      const std::lock_guard lock(mutex);
      is_asking = false;
      if (frame.lease == 0)
        has_no_more = true;
      else
        granted.push_back(
            {.id = frame.lease, .begin = frame.begin, .end = frame.end, .round = frame.round, .half = frame.half, .root = frame.root});
      break;
    }
    case Kind::noted: {
      const std::lock_guard lock(mutex);
      const auto report = reports.find(frame.lease);
      if (report == reports.end()) break;
      // An answer that there is no more may be older than what the lead has got back.
      if (report->second.kind == Kind::drop) has_no_more = false;
      reports.erase(report);
      break;
    }
    default:
      throw Error{data_loss, "server {} sent a frame of kind {}", link->server, static_cast<std::uint32_t>(frame.kind)};
  }
  changed.notify_all();
}

void Client::State::receive_values(const Link& link, const Frame& frame, const rpc::Incoming& message) {
  const std::span<float> to = place_of(link, frame, setup.parameters);
  const std::size_t piece = frame.piece;
  {
    const std::lock_guard lock(mutex);
    // An answer may come twice if a push was sent twice.
    if (!active || active->id != frame.id || is_awaited[piece] == 0) return;
    if (frame.begin != 0 && frame.begin != arrived[piece]) return;
  }
  // No thread reads or writes these values while they are awaited.
  decode(message, setup.rules.wire, to);
  Todo todo;
  {
    const std::lock_guard lock(mutex);
    arrived[piece] = frame.end;
    if (frame.end < setup.map->pieces()[piece].size()) return;
    answered(piece, frame, todo);
    wake();
  }
  carry_out(std::move(todo));
}

void Client::State::receive_fetched(const Link& link, const Frame& frame, const rpc::Incoming& message) {
  const auto slot = static_cast<std::size_t>(frame.slot);
  if (frame.slot >= 0 && slot >= fetched_slots.size()) throw Error{data_loss, "slot {} was not asked for", frame.slot};
  decode(message, comm::WireType::f32, place_of(link, frame, frame.slot < 0 ? setup.parameters : fetched_slots[slot]));
  const std::lock_guard lock(mutex);
  if (frame.slot < 0) versions[frame.piece] = frame.version;
  fetching -= frame.end - frame.begin;
  wake();
}

}  // namespace trireme::ps
