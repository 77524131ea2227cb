// SPDX-License-Identifier: Apache-2.0
// What becomes of the leases of lost workers: every sample's gradient is in every piece once.
#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/ps/server_state.h"

namespace trireme::ps {

void Server::regroup(std::uint64_t generation, std::vector<std::string> workers, std::vector<std::string> readers,
                     const std::vector<std::int64_t>& kept_leases) {
  Stretch next = state_->stretch;
  next.generation = generation;
  next.workers = std::move(workers);
  next.readers = std::move(readers);
  state_->enter(std::move(next), &kept_leases);
}

std::vector<LostLease> Server::lost() const {
  const std::lock_guard lock(state_->work_mutex);
  std::vector<LostLease> leases;
  if (!state_->ledger || state_->stretch.work->in_step) return leases;
  for (const Lease& lease : state_->ledger->out_but(state_->kept))
    leases.push_back({.lease = lease.id, .half = lease.half, .first = lease.first(), .seat = state_->takers.at(lease.id)});
  return leases;
}

std::vector<double> Server::has(std::span<const LostLease> leases) {
  const std::size_t all = state_->setup.map->pieces().size();
  const std::vector<std::size_t>& own = state_->setup.map->pieces_of(state_->setup.number);
  std::vector<double> out(leases.size() * all);
  for (std::size_t i = 0; i < leases.size(); ++i) {
    // Pieces take note before the lead decides: if it does and this generation ends, they know.
    const std::vector<bool> has = state_->holdings.close_lease(leases[i].seat, leases[i].lease, leases[i].half);
    for (std::size_t piece = 0; piece < own.size(); ++piece) out[i * all + own[piece]] = has[piece] ? 1 : 0;
    const std::optional<Applied> rest = state_->close_push(leases[i]);
    if (rest && state_->setup.applied) state_->setup.applied(*rest);
  }
  return out;
}

// A push of which no more will come, and that is not all here.
std::optional<Applied> Server::State::close_push(const LostLease& lease) {
  const std::lock_guard lock(desk_mutex);
  Progress& push = progress[lease.seat];
  if (push.id == 0 || push.lease != lease.first || push.pieces == holdings.size()) return std::nullopt;
  const auto worker = std::ranges::find(seats, lease.seat, [](const auto& seat) { return seat.second; });
  return applied_of(worker->first, std::exchange(push, {}));
}

void Server::settle(std::span<const LostLease> leases, std::span<const double> had) {
  const std::size_t all = state_->setup.map->pieces().size();
  ensure(had.size() == leases.size() * all, "all pieces are reported");
  const std::lock_guard lock(state_->work_mutex);
  const Stretch& stretch = state_->stretch;
  if (!state_->ledger || stretch.work->in_step) return;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    const auto pieces = had.subspan(i * all, all);
    const auto count = static_cast<std::size_t>(std::ranges::count_if(pieces, [](double has) { return has > 0; }));
    const std::optional<Lease> lease = state_->ledger->find(leases[i].lease);
    if (!lease || count == 0) continue;
    // Where late pushes are dropped, pieces decide each for itself, and a push counts that any of them has.
    if (count < all && !stretch.rules.sums()) {
      state_->ledger->halve(lease->id);
      continue;
    }
    const auto worker = std::ranges::find(state_->seats, leases[i].seat, [](const auto& seat) { return seat.second; });
    state_->ledger->done(lease->id);
    state_->done.push_back({.worker = worker->first,
                            .lease = *lease,
                            .samples = lease->size(),
                            .stretch = stretch.updates,
                            .first_lease = stretch.rules.sums() ? 0 : lease->first(),
                            .is_reported = false});
  }
  state_->regroup_work();
}

}  // namespace trireme::ps
