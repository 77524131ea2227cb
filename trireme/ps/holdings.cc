// SPDX-License-Identifier: Apache-2.0
// Updates of pieces: by each push alone, or by the sum of a round.
#include "trireme/ps/holdings.h"

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/base/finite.h"
#include "trireme/base/parallel.h"
#include "trireme/base/vectorized.h"
#include "trireme/ps/values.h"

namespace trireme::ps {
namespace {

TRIREME_VECTORIZED void scale(float* __restrict to, const float* __restrict from, float by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i] * by;
}

TRIREME_VECTORIZED void add_scaled(float* __restrict to, const float* __restrict from, float by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i] * by;
}

}  // namespace

Holdings::Holdings(Setup setup) : setup_(std::move(setup)) {
  for (const std::size_t index : setup_.map.pieces_of(setup_.server)) {
    Held& held = pieces_.emplace_back();
    held.index = pieces_.size() - 1;
    held.piece = setup_.map.pieces()[index];
    held.sum = static_cast<std::size_t>(values_);
    values_ += held.piece.size();
    largest_ = std::max(largest_, held.piece.size());
  }
  buffers_ = std::make_shared<Buffers>(static_cast<std::size_t>(largest_));
}

void Holdings::begin(const Rules& rules, std::int64_t updates, std::size_t seats) {
  rules_ = rules;
  if (!rules.sums())
    sums_ = {};
  else if (sums_.empty())
    sums_.resize(static_cast<std::size_t>(values_));
  for (Held& held : pieces_) {
    const std::lock_guard lock(held.mutex);
    held.version = updates;
    held.skipped = 0;
    held.last.resize(seats);
    held.before.assign(seats, {});
    held.closed.clear();
    for (Last& last : held.last) last.lease = 0;
    held.copied.reset();
    clear_round(held);
  }
}

void Holdings::regroup(std::size_t seats) {
  for (Held& held : pieces_) {
    const std::lock_guard lock(held.mutex);
    held.last.resize(seats);
    held.before.resize(seats);
    for (const Waiting& waiting : held.waiting) held.last[waiting.seat] = std::exchange(held.before[waiting.seat], {});
    clear_round(held);
  }
}

void Holdings::push(std::size_t piece, const Push& push, std::span<float> gradients, std::vector<Verdict>& verdicts) {
  Held& held = pieces_[piece];
  // A thread that serves a stream is one of many: it must not gather others for an update of its own.
  const ThreadScope alone(1);
  const std::lock_guard lock(held.mutex);
  if (push.version > held.version)
    throw Error{invalid_argument, "a push was computed with version {} of values {} to {}, which are at {}",
                push.version,     held.piece.begin,
                held.piece.end,   held.version};
  const Verdict verdict{
      .seat = push.seat, .piece = piece, .id = push.id, .staleness = held.version - push.version, .samples = push.samples};
  if (rules_.sums()) return push_to_sum(held, push, gradients, verdict, verdicts);
  push_alone(held, push, gradients, verdict, verdicts);
}

void Holdings::push_alone(Held& held, const Push& push, std::span<float> gradients, Verdict verdict, std::vector<Verdict>& verdicts) {
  Last& last = held.last[push.seat];
  verdict.is_new = last.id != push.id;
  verdict.lease = push.first;
  // Another worker does again what a lost worker could not finish: its samples count once in every piece.
  verdict.is_applied = push.half == 0 || std::ranges::find(held.closed, push.half) == held.closed.end();
  if (verdict.is_new) {
    if (verdict.is_applied && !push.is_void)
      update(held, gradients, rules_.damped ? push.rate / (1 + static_cast<double>(verdict.staleness)) : push.rate);
    remember(held, push, true);
  }
  verdicts.push_back(verdict);
}

void Holdings::push_to_sum(Held& held, const Push& push, std::span<float> gradients, Verdict verdict, std::vector<Verdict>& verdicts) {
  Last& last = held.last[push.seat];
  const bool is_in_round = std::any_of(held.waiting.begin(), held.waiting.end(), [&](const Waiting& w) { return w.seat == push.seat; });
  if (last.id == push.id && !is_in_round) {
    verdict.is_new = false;
    verdict.taken = last.taken;
    verdicts.push_back(verdict);
    return;
  }
  if (push.version < held.version) {
    // Without backup workers the round was made before a loss made others do its samples again: they are in this piece already.
    remember(held, push, rules_.backup_workers == 0);
    verdict.taken = last.taken;
    verdicts.push_back(verdict);
    return;
  }
  if (is_in_round && last.id != push.id)
    throw Error{invalid_argument, "a worker pushed values {} to {} twice in one round", held.piece.begin, held.piece.end};
  const bool completes = static_cast<std::int64_t>(held.waiting.size()) + (is_in_round ? 0 : 1) >= needed_;
  if (!is_in_round) {
    remember(held, push, true);
    held.waiting.push_back({.seat = push.seat, .id = push.id});
    held.rate = push.rate;
    // A worker alone: its mean is what it pushed, bit by bit.
    if (push.is_void)
      ++held.voids;
    else if (completes && held.waiting.size() == 1)
      held.samples = 0;
    else
      add_to_sum(held, push, gradients);
  }
  if (completes) complete(held, gradients, verdicts);
}

void Holdings::remember(Held& held, const Push& push, bool taken) {
  held.before[push.seat] = std::exchange(held.last[push.seat], {.id = push.id, .taken = taken, .lease = push.lease});
}

std::vector<bool> Holdings::close_lease(std::size_t seat, std::int64_t lease, std::int64_t half) {
  std::vector<bool> has;
  for (Held& held : pieces_) {
    const std::lock_guard lock(held.mutex);
    const auto is_closed = [&](std::int64_t id) { return std::ranges::find(held.closed, id) != held.closed.end(); };
    const Last& last = held.last[seat];
    const Last& before = held.before[seat];
    // A worker pushes its leases in the order of their ids, and begins none before every piece has answered the one before.
    bool is_here = last.lease > lease;
    if (last.lease == lease) is_here = last.taken;
    if (before.lease == lease) is_here = before.taken;
    has.push_back(is_here || is_closed(half));
    if (has.back() && !is_closed(lease)) held.closed.push_back(lease);
  }
  return has;
}

void Holdings::add_to_sum(Held& held, const Push& push, std::span<float> gradients) {
  const std::span<float> sum = sum_of(held);
  const auto samples = static_cast<float>(push.samples);
  (held.samples == 0 ? scale : add_scaled)(sum.data(), gradients.data(), samples, sum.size());
  held.samples += push.samples;
}

// One void push makes a round void: a batch is used as a whole or not at all. With backup workers the pieces choose whose pushes they
// take, and a round that is void in one and not in another would be worse than one without that worker's part.
bool Holdings::is_void(const Held& held) const {
  return held.voids > 0 && (rules_.backup_workers == 0 || held.voids == held.waiting.size());
}

void Holdings::complete(Held& held, std::span<float> gradients, std::vector<Verdict>& verdicts) {
  const bool changes_nothing = is_void(held);
  if (changes_nothing) {
    ++held.version;  // a round is a version
    ++held.skipped;
  } else {
    if (held.samples != 0) scale(gradients.data(), sum_of(held).data(), 1.0F / static_cast<float>(held.samples), gradients.size());
    if (held.samples != 0 && !are_finite(gradients))
      throw Error{out_of_range, "the sum of all workers' gradients of values {} to {} is not finite; it was not taken", held.piece.begin,
                  held.piece.end};
    update(held, gradients, held.rate);
  }
  for (const Waiting& waiting : held.waiting)
    verdicts.push_back({.seat = waiting.seat, .piece = held.index, .id = waiting.id, .is_void = changes_nothing});
  clear_round(held);
}

void Holdings::complete_rounds(std::vector<Verdict>& verdicts) {
  const ThreadScope alone(1);
  const std::shared_ptr<float[]> buffer = take_buffer();
  for (Held& held : pieces_) {
    const std::lock_guard lock(held.mutex);
    const bool is_complete = !held.waiting.empty() && static_cast<std::int64_t>(held.waiting.size()) >= needed_;
    if (is_complete) complete(held, {buffer.get(), static_cast<std::size_t>(held.piece.size())}, verdicts);
  }
}

void Holdings::update(Held& held, std::span<const float> gradients, double rate) {
  failpoint("ps.before_apply");
  const auto begin = static_cast<std::size_t>(held.piece.begin);
  optim::UpdateSpan span{.parameters = setup_.parameters.subspan(begin, gradients.size()), .gradients = gradients};
  for (std::size_t slot = 0; slot < setup_.slots.size(); ++slot) span.slots[slot] = setup_.slots[slot].subspan(begin, gradients.size());
  span.learning_rate = rate;
  span.step = held.version + 1 - held.skipped;
  setup_.optimizer.update(held.piece.begin, span);
  ++held.version;
  held.copied.reset();
}

void Holdings::clear_round(Held& held) {
  held.samples = 0;
  held.voids = 0;
  held.waiting.clear();
}

std::span<float> Holdings::sum_of(const Held& held) {
  return std::span{sums_}.subspan(held.sum, static_cast<std::size_t>(held.piece.size()));
}

Holdings::Copy Holdings::copy(std::size_t piece, int slot, comm::WireType wire) {
  Held& held = pieces_[piece];
  const std::lock_guard lock(held.mutex);
  const auto begin = static_cast<std::size_t>(held.piece.begin);
  const auto count = static_cast<std::size_t>(held.piece.size());
  const bool is_shared = slot < 0 && wire == rules_.wire;  // with the answers of others
  std::shared_ptr<float[]> memory = is_shared ? held.copied.lock() : nullptr;
  const std::size_t bytes = wire_bytes(wire, held.piece.size());
  if (memory == nullptr) {
    memory = take_buffer();
    const std::span<float> from = slot < 0 ? setup_.parameters : setup_.slots[static_cast<std::size_t>(slot)];
    encode(from.subspan(begin, count), wire, {reinterpret_cast<std::byte*>(memory.get()), bytes});
    if (is_shared) held.copied = memory;
  }
  return {.memory = memory, .bytes = {reinterpret_cast<const std::byte*>(memory.get()), bytes}, .version = held.version};
}

}  // namespace trireme::ps
