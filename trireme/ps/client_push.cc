// SPDX-License-Identifier: Apache-2.0
// The way of a push: pieces go out as their slices become ready, values come back, and the lead is notified.
#include <algorithm>
#include <utility>

#include "trireme/base/random.h"
#include "trireme/ps/client_state.h"

namespace trireme::ps {

Client::State::Push Client::State::new_push(const Lease& lease, double rate, std::int64_t samples) {
  Push push{.id = generation << 32U | ++counter, .lease = lease, .rate = rate, .samples = samples};
  push.is_ready.assign(setup.space.slices().size(), 0);
  push.is_sent.assign(pieces, 0);
  push.versions.assign(pieces, -1);
  push.missing.resize(pieces);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const Piece& of = setup.map->pieces()[piece];
    push.missing[piece] = static_cast<std::uint32_t>(of.last_slice - of.first_slice + 1);
  }
  return push;
}

// Makes it the active one, and sends what is ready of it.
void Client::State::start(Push push, Todo& todo) {
  active = std::move(push);
  for (std::size_t piece = pieces; piece-- > 0;) send_ready(piece, todo);
  advance(todo);
}

std::int64_t Client::State::version_of(const Push& push, std::size_t piece) const {
  // In step a push belongs to its round, whatever has become of a piece since.
  const bool is_in_step = setup.rules.sums() && setup.rules.backup_workers == 0 && push.lease.round >= 0;
  return is_in_step ? updates + push.lease.round : versions[piece];
}

void Client::State::send_ready(std::size_t piece, Todo& todo) {
  Push& push = *active;
  if (push.missing[piece] != 0 || push.is_sent[piece] != 0) return;
  push.is_sent[piece] = 1;
  if (push.submitted < Seconds(0)) push.submitted = setup.clock.now();
  is_awaited[piece] = 1;
  arrived[piece] = 0;
  if (push.versions[piece] < 0) push.versions[piece] = version_of(push, piece);
  const Piece& of = setup.map->pieces()[piece];
  const auto server = static_cast<std::size_t>(of.server);
  if (server >= links.size()) return;  // a wait will throw
  const bool is_traced = setup.spans != nullptr && setup.spans->is_on();
  if (is_traced) push.trips.try_emplace(of.server, Push::Trip{.begin = setup.clock.now().count()});
  const Frame frame{.kind = Kind::push,
                    .piece = static_cast<std::uint32_t>(piece),
                    .id = push.id,
                    .version = push.versions[piece],
                    .lease = push.lease.id,
                    .half = push.lease.half,
                    .root = push.lease.root,
                    .flags = (push.trips.contains(of.server) ? kTraced : 0) | (push.is_void ? kVoid : 0),
                    .rate = push.rate,
                    .samples = push.samples};
  todo.sendings.push_back({.link = links[server], .frame = frame, .piece = push.is_void ? kNoPiece : piece});
}

void Client::State::answered(std::size_t piece, const Frame& frame, Todo& todo) {
  is_awaited[piece] = 0;
  versions[piece] = frame.version;
  Push& push = *active;
  ++push.answered;
  trace_answer(push, piece);
  push.taken = push.taken || (frame.flags & kTaken) != 0;
  push.was_void = push.was_void || (frame.flags & kVoid) != 0;
  // The first piece of the lead speaks for all.
  const std::vector<std::size_t>& of_lead = setup.map->pieces_of(0);
  if (of_lead.empty() ? piece == 0 : piece == of_lead.front()) push.staleness = frame.staleness;
  advance(todo);
}

void Client::State::trace_answer(Push& push, std::size_t piece) const {
  const int server = setup.map->pieces()[piece].server;
  const auto trip = push.trips.find(server);
  if (trip == push.trips.end() || ++trip->second.answered < setup.map->pieces_of(server).size()) return;
  const auto worker = hash_text(setup.name);
  const auto number = static_cast<std::uint64_t>(server);
  setup.spans->add({.name = "push",
                    .category = "message",
                    .track = fmt::format("pushes to server {}", server),
                    .begin = trip->second.begin,
                    .end = setup.clock.now().count(),
                    .sends = observe::flow_of("push", push.id, worker, number, 0),
                    .receives = observe::flow_of("answer", push.id, worker, number, 0)});
  push.trips.erase(trip);
}

// Goes on to what the state of the push allows now.
void Client::State::advance(Todo& todo) {
  if (!active || active->answered < pieces) return;
  if (!active->is_acknowledged) {
    active->is_acknowledged = true;
    exchanged += (setup.clock.now() - active->submitted).count();
    staleness = active->staleness;
    if (active->taken) todo.acknowledged = active->id;
  }
  if (active->report && !active->is_reported) report(*active, todo);
  if (upcoming) start(*std::exchange(upcoming, std::nullopt), todo);
}

void Client::State::report(Push& push, Todo& todo) {
  push.is_reported = true;
  Frame frame{.kind = push.taken ? Kind::done : Kind::drop, .id = push.id, .lease = push.lease.id, .rate = push.rate};
  if (push.taken) {
    const StepReport& report = *push.report;
    frame.samples = report.samples;
    frame.correct = report.correct;
    frame.loss = report.loss;
    frame.penalty = report.penalty;
    frame.compute_seconds = report.compute_seconds;
    frame.wait_seconds = report.wait_seconds;
    frame.seconds = report.seconds;
    frame.staleness = push.staleness;
    frame.flags = report.is_skipped ? kVoid : 0;
  } else {
    has_no_more = false;  // the lead has this one again
  }
  reports[push.lease.id] = frame;
  queue_frame(frame, 0, todo);
}

// On new streams: all of a push that was not answered by all, since a server counts what comes on a stream.
void Client::State::send_again(Todo& todo) {
  std::erase_if(reports, [](const auto& report) { return report.second.kind == Kind::drop; });  // the lead took them back anyway
  for (const auto& [lease, frame] : reports) queue_frame(frame, 0, todo);
  std::fill(is_awaited.begin(), is_awaited.end(), 0);
  if (!active || active->is_acknowledged) return;
  active->answered = 0;
  active->trips.clear();
  std::fill(active->is_sent.begin(), active->is_sent.end(), 0);
  for (std::size_t piece = pieces; piece-- > 0;) send_ready(piece, todo);
}

bool Client::State::has_dropped() const {
  return std::any_of(reports.begin(), reports.end(), [](const auto& report) { return report.second.kind == Kind::drop; });
}

bool Client::State::is_settled() const { return !upcoming && (!active || active->is_acknowledged); }

std::optional<Lease> Client::unfinished() const {
  const std::lock_guard lock(state_->mutex);
  const auto& active = state_->active;
  if (active && (!active->is_acknowledged || !active->is_reported)) return active->lease;
  if (state_->upcoming) return state_->upcoming->lease;
  return std::nullopt;
}

std::vector<std::int64_t> Client::kept() const {
  std::vector<std::int64_t> leases;
  if (const std::optional<Lease> lease = unfinished()) leases.push_back(lease->id);
  const std::lock_guard lock(state_->mutex);
  if (state_->upcoming && (leases.empty() || leases.front() != state_->upcoming->lease.id)) leases.push_back(state_->upcoming->lease.id);
  for (const auto& [lease, frame] : state_->reports)
    if (frame.kind == Kind::done) leases.push_back(lease);
  return leases;
}

void Client::forget() {
  const std::lock_guard lock(state_->mutex);
  state_->active.reset();
  state_->upcoming.reset();
  std::fill(state_->is_awaited.begin(), state_->is_awaited.end(), 0);
}

void Client::State::begin(const Lease& lease, double rate, std::int64_t samples, bool is_void) {
  Todo todo;
  {
    const std::lock_guard lock(mutex);
    ensure(!upcoming, "a push was begun before the last one went out");
    Push push = new_push(lease, rate, samples);
    push.is_void = is_void;
    if (is_void) std::fill(push.missing.begin(), push.missing.end(), 0);
    if (!is_settled())
      upcoming = std::move(push);
    else
      start(std::move(push), todo);
  }
  carry_out(std::move(todo));
}

void Client::begin(const Lease& lease, double learning_rate, std::int64_t samples) { state_->begin(lease, learning_rate, samples, false); }

void Client::push_void(const Lease& lease, double learning_rate, std::int64_t samples) {
  state_->begin(lease, learning_rate, samples, true);
}

// Pieces are answered one by one, and every answer says that the round was void.
bool Client::reset_void() {
  const std::lock_guard lock(state_->mutex);
  std::optional<State::Push>& push = state_->active;
  return push && push->was_void && !std::exchange(push->is_void_known, true);
}

void Client::ready(std::size_t slice) {
  State::Todo todo;
  {
    const std::lock_guard lock(state_->mutex);
    auto& push = state_->upcoming ? state_->upcoming : state_->active;
    if (!push || std::exchange(push->is_ready[slice], 1) != 0) return;
    for (const std::size_t piece : state_->setup.map->pieces_of_slice(slice)) {
      --push->missing[piece];
      if (&push == &state_->active) state_->send_ready(piece, todo);
    }
  }
  state_->carry_out(std::move(todo));
}

void Client::report_step(const StepReport& report) {
  State::Todo todo;
  {
    const std::lock_guard lock(state_->mutex);
    auto& push = state_->upcoming ? state_->upcoming : state_->active;
    if (!push) return;
    push->report = report;
    state_->advance(todo);
  }
  state_->carry_out(std::move(todo));
}

}  // namespace trireme::ps
