// SPDX-License-Identifier: Apache-2.0
// What a worker waits for: work, values, the end of its pushes.
#include "trireme/ps/client.h"

#include <algorithm>
#include <utility>

#include "trireme/base/failpoint.h"
#include "trireme/ps/client_state.h"
#include "trireme/ps/values.h"

namespace trireme::ps {
namespace {

constexpr std::chrono::milliseconds kLook{20};  // between two looks at the cancellation

}  // namespace

Client::State::State(Setup given)
    : setup(std::move(given)), pieces(setup.map->pieces().size()), versions(pieces), is_awaited(pieces), arrived(pieces) {
  if (setup.rules.wire != comm::WireType::f32) staging.resize(wire_bytes(setup.rules.wire, setup.space.size()));
}

template <class Done>
void Client::State::wait(std::unique_lock<std::mutex>& lock, const Done& done, const char* what) {
  const Seconds end = setup.clock.now() + setup.timeout;
  const std::function<bool()> is_done = std::cref(done);
  const Waiting waiting(waits, is_done);
  while (!done()) {
    if (cancellation && cancellation->is_cancelled()) throw Error{cancelled, "waiting for {} was cancelled", what};
    if (fault) throw Error{*fault};
    if (links.empty()) throw Error{cancelled, "waiting for {}, but there is no stream to a server", what};
    if (setup.clock.now() >= end) throw Error{deadline_exceeded, "{} did not come within {} s", what, setup.timeout.count()};
    changed.wait_for(lock, kLook);
  }
}

void Client::State::wake() {
  if (std::any_of(waits.begin(), waits.end(), [](const auto* is_done) { return (*is_done)(); })) changed.notify_all();
}

void Client::State::queue_frame(const Frame& frame, std::size_t server, Todo& todo) const {
  if (server < links.size()) todo.sendings.push_back({.link = links[server], .frame = frame});
}

void Client::State::carry_out(Todo todo) {
  if (todo.acknowledged != 0 && setup.acknowledged) setup.acknowledged(todo.acknowledged);
  if (todo.acknowledged != 0) failpoint("ps.after_acknowledged");
  for (Sending& sending : todo.sendings) send(sending);
}

// A stream that has ended is reported by closed(), and thrown by the next wait.
void Client::State::send(Sending& sending) {
  if (sending.link->session == nullptr) return;
  if (sending.piece != kNoPiece) return send_gradients(sending);
  bytes_out += static_cast<std::int64_t>(kFrameBytes);
  sending.link->session->send({.head = head_of(sending.frame), .urgency = kUrgent});
}

void Client::State::send_gradients(Sending& sending) {
  failpoint("ps.between_pieces");
  const comm::WireType wire = setup.rules.wire;
  const Piece& piece = setup.map->pieces()[sending.piece];
  for_parts(piece.size(), [&](std::int64_t begin, std::int64_t end) {
    const auto values = setup.gradients.subspan(static_cast<std::size_t>(piece.begin + begin), static_cast<std::size_t>(end - begin));
    std::span<const std::byte> body = std::as_bytes(values);
    if (wire != comm::WireType::f32) {
      const std::span to = std::span{staging}.subspan(wire_bytes(wire, piece.begin + begin), wire_bytes(wire, end - begin));
      encode(values, wire, to);
      body = to;
    }
    sending.frame.begin = begin;
    sending.frame.end = end;
    bytes_out += static_cast<std::int64_t>(kFrameBytes + body.size());
    sending.link->session->send({.head = head_of(sending.frame), .body = body, .urgency = -piece.begin});
  });
}

Client::Client(Setup setup) : state_(std::make_shared<State>(std::move(setup))) {}

Client::~Client() {
  try {
    state_->disconnect();
  } catch (const Error&) {
    // It waited long enough for streams to end.
  }
}

void Client::begin_stretch(std::int64_t updates) {
  const std::lock_guard lock(state_->mutex);
  state_->updates = updates;
  std::fill(state_->versions.begin(), state_->versions.end(), updates);
  state_->granted.clear();
  state_->has_no_more = false;
}

void Client::fetch() {
  state_->fetched_slots.clear();
  state_->fetch(-1, -1);
}

void Client::fetch_slots(std::vector<std::span<float>> slots, int except) {
  const int count = static_cast<int>(slots.size());
  state_->fetched_slots = std::move(slots);
  for (int slot = 0; slot < count; ++slot) state_->fetch(slot, except);
}

// Some at a time: a server keeps a copy of what is on its way.
void Client::State::fetch(int slot, int except) {
  for (std::size_t piece = 0; piece < pieces;) {
    Todo todo;
    {
      const std::lock_guard lock(mutex);
      fetching = 0;
      for (; piece < pieces && todo.sendings.size() < kFetchedAtOnce; ++piece) {
        const int server = setup.map->pieces()[piece].server;
        if (server == except) continue;
        fetching += setup.map->pieces()[piece].size();
        queue_frame({.kind = Kind::fetch, .piece = static_cast<std::uint32_t>(piece), .slot = slot}, static_cast<std::size_t>(server),
                    todo);
      }
    }
    carry_out(std::move(todo));
    std::unique_lock lock(mutex);
    wait(
        lock, [this] { return fetching == 0; }, "the servers' values");
  }
}

// Not before the lead was notified of what was dropped: messages of two threads may overtake each other.
void Client::State::ask() {
  Todo todo;
  {
    const std::lock_guard lock(mutex);
    if (is_asking || has_no_more || !granted.empty() || has_dropped()) return;
    is_asking = true;
    queue_frame({.kind = Kind::ask}, 0, todo);
  }
  carry_out(std::move(todo));
}

std::optional<Lease> Client::next_lease() {
  std::optional<Lease> lease;
  while (!lease) {
    {
      std::unique_lock lock(state_->mutex);
      if (state_->fault) throw Error{*state_->fault};  // what was granted is for nothing
      const auto may_ask = [this] { return !state_->has_dropped() || !state_->granted.empty(); };
      state_->wait(lock, may_ask, "the lead");
    }
    state_->ask();
    std::unique_lock lock(state_->mutex);
    const auto is_answered = [this] { return !state_->granted.empty() || !state_->is_asking; };
    state_->wait(lock, is_answered, "work");
    if (state_->granted.empty() && state_->has_no_more) return std::nullopt;
    if (state_->granted.empty()) continue;
    lease = state_->granted.front();
    state_->granted.pop_front();
  }
  state_->ask();
  return lease;
}

void Client::needed(std::size_t slice) {
  const std::vector<std::size_t>& pieces = state_->setup.map->pieces_of_slice(slice);
  const auto is_here = [&] {
    return std::all_of(pieces.begin(), pieces.end(), [this](std::size_t p) { return state_->is_awaited[p] == 0; });
  };
  std::unique_lock lock(state_->mutex);
  if (is_here()) return;
  const Seconds begin = state_->setup.clock.now();
  state_->wait(lock, is_here, "new values");
  state_->waited += (state_->setup.clock.now() - begin).count();
}

void Client::settle() {
  std::unique_lock lock(state_->mutex);
  const Seconds begin = state_->setup.clock.now();
  state_->wait(
      lock, [this] { return state_->is_settled(); }, "an answer to the last push");
  state_->waited += (state_->setup.clock.now() - begin).count();
}

void Client::retire() {
  State::Todo todo;
  {
    std::unique_lock lock(state_->mutex);
    // A node that sees this worker retired knows what it has done.
    const auto is_answered = [this] { return !state_->is_asking && state_->reports.empty(); };
    state_->wait(lock, is_answered, "the lead");
    for (const Lease& lease : state_->granted) state_->queue_frame({.kind = Kind::drop, .lease = lease.id}, 0, todo);
    state_->granted.clear();
    state_->has_no_more = false;
    for (std::size_t server = 0; server < state_->links.size(); ++server) state_->queue_frame({.kind = Kind::retire}, server, todo);
  }
  state_->carry_out(std::move(todo));
}

double Client::exchanged() const {
  const std::lock_guard lock(state_->mutex);
  return state_->exchanged;
}

std::int64_t Client::staleness() const {
  const std::lock_guard lock(state_->mutex);
  return state_->staleness;
}

double Client::waited() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waited;
}

std::int64_t Client::bytes_out() const { return state_->bytes_out; }

int Client::missed_server() const {
  const std::lock_guard lock(state_->mutex);
  return state_->missed;
}

}  // namespace trireme::ps
