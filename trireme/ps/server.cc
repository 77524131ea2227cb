// SPDX-License-Identifier: Apache-2.0
// Stretches of a server: who its workers are, and what they have made.
#include "trireme/ps/server.h"

#include <algorithm>
#include <utility>

#include "trireme/ps/server_state.h"

namespace trireme::ps {
namespace {

constexpr std::int64_t kLittle = 1 << 19;  // values: 2 MiB

}  // namespace

Server::State::State(Setup given)
    : setup(std::move(given)),
      holdings(
          {.optimizer = setup.optimizer, .map = *setup.map, .server = setup.number, .parameters = setup.parameters, .slots = setup.slots}),
      own(setup.map->pieces().size(), kNotOurs),
      clocks({}, 0),
      load_since(setup.clock.now()) {
  const std::vector<std::size_t>& pieces = setup.map->pieces_of(setup.number);
  for (std::size_t index = 0; index < pieces.size(); ++index) own[pieces[index]] = index;
}

// `kept_leases`: those that stay out, if the stretch goes on with other workers; none if it begins.
void Server::State::enter(Stretch next, const std::vector<std::int64_t>* kept_leases) {
  // First, so that streams of an older generation find themselves refused and let go of the lock.
  generation = next.generation;
  Connections strangers;
  {
    const std::lock_guard alone(stretch_mutex);
    stretch = std::move(next);
    for (const std::string& name : stretch.workers) seats.try_emplace(name, seats.size());
    if (kept_leases == nullptr)
      holdings.begin(stretch.rules, stretch.updates, seats.size());
    else
      holdings.regroup(seats.size());
    const std::scoped_lock lock(work_mutex, desk_mutex);
    if (kept_leases == nullptr) {
      ledger.reset();
      if (stretch.work) ledger.emplace(*stretch.work);
      done.clear();
      takers.clear();
    } else if (ledger) {
      kept = *kept_leases;
      if (stretch.work->in_step) regroup_work();
    }
    strangers = seat_workers();
    set_needed();
    set_share();
  }
  desk_changed.notify_all();
  for (const auto& connection : strangers)
    connection->session->close({failed_precondition, "generation {} is over; it is {} now", connection->generation, generation.load()});
}

void Server::State::regroup_work() {
  const int workers = static_cast<int>(stretch.workers.size());
  const int parts = stretch.work->parts > 0 ? std::max(1, workers - static_cast<int>(stretch.rules.backup_workers)) : 0;
  for (const Lease& used : ledger->regroup(workers, parts, kept))
    done.push_back({.lease = used, .samples = used.size(), .stretch = stretch.updates, .is_reported = false});
  std::erase_if(takers, [this](const auto& taker) { return !ledger->find(taker.first); });
}

// Returns the streams of other generations.
Connections Server::State::seat_workers() {
  const std::vector<Member> before = std::exchange(members, {});
  Connections strangers;
  for (const auto& connection : connections)
    if (connection->is_known && connection->generation != stretch.generation) strangers.push_back(connection);
  progress.resize(seats.size());
  number_of.assign(seats.size(), kNotOurs);
  for (const std::string& name : stretch.workers) {
    Member member{.name = name, .seat = seats.at(name)};
    for (const Member& known : before)
      if (known.name == name && known.connection != nullptr && known.connection->generation == stretch.generation)
        member.connection = known.connection;
    number_of[member.seat] = members.size();
    members.push_back(std::move(member));
  }
  clocks = Pace(stretch.rules, static_cast<int>(members.size()));
  return strangers;
}

// All workers together have less on the way than the parameters take, unless that is little.
void Server::State::set_share() {
  const std::int64_t largest = std::max<std::int64_t>(1, holdings.largest());
  const auto workers = static_cast<std::int64_t>(members.size());
  share = std::max({std::int64_t{1}, kLittle / largest, holdings.values() * 9 / 10 / largest / std::max<std::int64_t>(1, workers)});
}

void Server::State::set_needed() { holdings.set_needed(std::max<std::int64_t>(1, clocks.active() - stretch.rules.backup_workers)); }

void Server::State::end() {
  generation = 0;
  Connections all;
  {
    const std::lock_guard alone(stretch_mutex);
    const std::lock_guard lock(desk_mutex);
    all = connections;
  }
  for (const auto& connection : all) connection->session->close({unavailable, "the server is ending"});
  {
    const std::lock_guard lock(waker->mutex);
    waker->has_ended = true;
    waker->changed.notify_all();
  }
  sender.join();
}

Server::Server(Setup setup) : state_(std::make_shared<State>(std::move(setup))) {
  state_->sender = std::thread([state = state_.get()] { state->flush_starved(); });
}

Server::~Server() { state_->end(); }

void Server::begin(Stretch stretch) { state_->enter(std::move(stretch), nullptr); }

rpc::BulkListener Server::open(const std::string& worker, std::shared_ptr<rpc::BulkSession> session) {
  auto connection = std::make_shared<Connection>(worker, std::move(session));
  {
    const std::lock_guard lock(state_->desk_mutex);
    state_->connections.push_back(connection);
  }
  return {.received = [state = state_, connection](const rpc::Incoming& message) { state->received(connection, message); },
          .closed = [state = state_, connection](const Error&) { state->closed(connection); }};
}

void Server::stop() {
  const std::lock_guard lock(state_->work_mutex);
  if (state_->ledger) state_->ledger->stop();
}

bool Server::await_retired(Seconds timeout) {
  std::unique_lock lock(state_->desk_mutex);
  const bool is_over = state_->desk_changed.wait_for(lock, timeout, [this] { return state_->refusal || state_->clocks.active() == 0; });
  if (state_->refusal) throw Error{*state_->refusal};
  return is_over;
}

std::vector<WorkDone> Server::take_done() {
  const std::lock_guard lock(state_->work_mutex);
  return std::exchange(state_->done, {});
}

std::int64_t Server::used() const {
  const std::lock_guard lock(state_->work_mutex);
  return state_->ledger ? state_->ledger->used() : 0;
}

bool Server::is_complete() const {
  const std::lock_guard lock(state_->work_mutex);
  return state_->ledger && state_->ledger->is_complete();
}

ServerLoad Server::take_load() {
  const std::lock_guard lock(state_->desk_mutex);
  ServerLoad load = std::exchange(state_->load, {});
  const Seconds now = state_->setup.clock.now();
  load.busy_seconds = static_cast<double>(state_->busy_nanoseconds.exchange(0)) * 1e-9;
  load.bytes_in = state_->bytes_in.exchange(0);
  load.bytes_out = state_->bytes_out.exchange(0);
  load.seconds = (now - std::exchange(state_->load_since, now)).count();
  return load;
}

}  // namespace trireme::ps
