// SPDX-License-Identifier: Apache-2.0
// Work as runs of samples that any worker takes, or as rounds of which each worker takes its part.
#include "trireme/ps/ledger.h"

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::ps {

Ledger::Ledger(const Options& options)
    : options_(options), first_sample_(options.begin), next_round_(static_cast<std::size_t>(options.workers)) {
  ensure(options.begin >= 0 && options.begin <= options.end && options.batch_size > 0 && options.workers > 0 && options.parts >= 0,
         "there are samples, batches and workers");
  if (!options.in_step) free_.add({options.begin, options.end});
}

std::optional<Lease> Ledger::next(int worker) {
  if (options_.in_step) return next_in_step(worker);
  const std::int64_t parts = options_.parts > 0 ? options_.parts : options_.workers;
  const std::int64_t most = (options_.batch_size + parts - 1) / parts;
  if (!halves_.empty()) return next_half(most);
  const std::int64_t end = is_stopped_ ? frontier_ : options_.end;
  if (free_.is_empty() || free_.begin() >= end) return std::nullopt;
  return hand_out(free_.take_first(std::min(most, end - free_.begin())), -1);
}

Lease Ledger::next_half(std::int64_t most) {
  Lease& rest = halves_.front();
  Lease lease = hand_out({rest.begin, std::min(rest.end, rest.begin + most)}, -1);
  lease.half = rest.half;
  lease.root = rest.root;
  out_[lease.id] = lease;
  rest.begin = lease.end;
  if (rest.size() == 0) halves_.erase(halves_.begin());
  return lease;
}

std::optional<Lease> Ledger::next_in_step(int worker) {
  if (!given_back_.empty()) {
    const Lease first = given_back_.front();
    given_back_.erase(given_back_.begin());
    return hand_out({first.begin, first.end}, first.round);
  }
  const std::vector<double> shares(static_cast<std::size_t>(options_.workers), 1.0);
  std::int64_t& round = next_round_[static_cast<std::size_t>(worker)];
  while (batch(round).size() > 0 && !(is_stopped_ && round >= rounds_begun_)) {
    const data::Range whole = batch(round);
    // Of too small a batch the first workers get a sample each: who has no part of a full batch must have none of a smaller one, or it
    // would push to a round that is far ahead of the others.
    const bool is_small = whole.size() < options_.workers;
    const data::Range part =
        is_small ? data::Range{worker, worker < whole.size() ? worker + 1 : worker} : data::part_of(whole.size(), shares, worker);
    ++round;
    if (part.size() > 0) return hand_out({whole.begin + part.begin, whole.begin + part.end}, round - 1);
  }
  return std::nullopt;
}

Lease Ledger::hand_out(data::Range samples, std::int64_t round) {
  Lease lease{.id = ++last_id_, .begin = samples.begin, .end = samples.end, .round = round};
  if (round >= 0) lease.batch = batch(round);
  out_[lease.id] = lease;
  rounds_begun_ = std::max(rounds_begun_, round + 1);
  frontier_ = std::max(frontier_, lease.end);
  return lease;
}

data::Range Ledger::batch(std::int64_t round) const {
  const std::int64_t begin = std::min(options_.end, first_sample_ + (round - first_round_) * options_.batch_size);
  return {begin, std::min(options_.end, begin + options_.batch_size)};
}

bool Ledger::done(std::int64_t lease) {
  const auto found = out_.find(lease);
  if (found == out_.end()) return false;
  used_.add({found->second.begin, found->second.end});
  rounds_done_ = std::max(rounds_done_, found->second.round + 1);
  out_.erase(found);
  return true;
}

void Ledger::give_back(std::int64_t lease) {
  const auto found = out_.find(lease);
  if (found == out_.end()) return;
  const Lease back = found->second;
  out_.erase(found);
  if (back.half != 0) return halves_.push_back(back);
  if (!options_.in_step) return free_.add({back.begin, back.end});
  given_back_.insert(std::ranges::upper_bound(given_back_, back.begin, {}, &Lease::begin), back);
}

void Ledger::halve(std::int64_t lease) {
  const auto found = out_.find(lease);
  if (found == out_.end()) return;
  found->second.root = found->second.first();
  found->second.half = lease;
  give_back(lease);
}

void Ledger::stop() { is_stopped_ = true; }

bool Ledger::is_over() const {
  if (!out_.empty() || !halves_.empty()) return false;
  if (!options_.in_step) return free_.is_empty() || (is_stopped_ && free_.begin() >= frontier_);
  if (!given_back_.empty()) return false;
  // Parts of rounds that have begun are either used or still to be asked for.
  const data::Range next = batch(rounds_begun_);
  return (is_stopped_ || next.size() == 0) && used_.size() == next.begin - options_.begin;
}

bool Ledger::is_complete() const { return used_.size() == options_.end - options_.begin; }

std::optional<Lease> Ledger::find(std::int64_t lease) const {
  const auto found = out_.find(lease);
  return found != out_.end() ? std::optional(found->second) : std::nullopt;
}

std::vector<Lease> Ledger::out_but(const std::vector<std::int64_t>& kept) const {
  std::vector<Lease> others;
  for (const auto& [id, lease] : out_)
    if (std::ranges::find(kept, id) == kept.end()) others.push_back(lease);
  return others;
}

std::vector<Lease> Ledger::regroup(int workers, int parts, const std::vector<std::int64_t>& kept) {
  ensure(workers > 0 && parts >= 0, "a group that work can be divided among");
  options_.workers = workers;
  options_.parts = parts;
  if (options_.in_step) return regroup_in_step(kept);
  for (const Lease& lost : out_but(kept)) give_back(lost.id);
  return {};
}

std::vector<Lease> Ledger::regroup_in_step(const std::vector<std::int64_t>& kept) {
  for (const std::int64_t id : kept)
    if (const std::optional<Lease> lease = find(id)) rounds_done_ = std::max(rounds_done_, lease->round + 1);
  std::vector<Lease> unreported;
  for (std::int64_t round = first_round_; round < rounds_done_; ++round) {
    const data::Range all = batch(round);
    const std::vector<data::Range> gaps = used_.gaps(all);
    if (gaps.size() == 1 && gaps.front().size() == all.size())
      unreported.push_back({.begin = all.begin, .end = all.end, .round = round, .batch = all});
  }
  first_sample_ = rounds_done_ > first_round_ ? batch(rounds_done_ - 1).end : first_sample_;
  first_round_ = std::max(first_round_, rounds_done_);
  used_ = {};
  used_.add({options_.begin, first_sample_});
  out_.clear();
  given_back_.clear();
  rounds_begun_ = first_round_;
  next_round_.assign(static_cast<std::size_t>(options_.workers), first_round_);
  return unreported;
}

std::vector<data::Range> Ledger::remaining() const { return used_.gaps({options_.begin, options_.end}); }

}  // namespace trireme::ps
