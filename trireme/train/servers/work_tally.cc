// SPDX-License-Identifier: Apache-2.0
// Sums of parts.
#include "trireme/train/servers/work_tally.h"

#include <algorithm>

namespace trireme::train {
namespace {

// Means by samples, the longest time, sums otherwise.
void add_part(ps::WorkDone& sum, const ps::WorkDone& part) {
  const auto before = static_cast<double>(sum.samples);
  const auto more = static_cast<double>(part.samples);
  const auto mean = [&](double a, double b) { return (a * before + b * more) / (before + more); };
  sum.loss = mean(sum.loss, part.loss);
  sum.penalty = mean(sum.penalty, part.penalty);
  sum.compute_seconds = std::max(sum.compute_seconds, part.compute_seconds);
  sum.wait_seconds = std::max(sum.wait_seconds, part.wait_seconds);
  sum.seconds = std::max(sum.seconds, part.seconds);
  sum.samples += part.samples;
  sum.correct += part.correct;
  sum.worker.clear();
  sum.faulty.insert(sum.faulty.end(), part.faulty.begin(), part.faulty.end());
}

// In step the whole batch, also if not all workers could report their parts any more.
ps::WorkDone whole(ps::WorkDone done) {
  if (done.lease.round < 0) return done;
  const std::int64_t all = done.lease.batch.size();
  done.correct = done.correct * all / std::max<std::int64_t>(1, done.samples);
  done.samples = all;
  done.lease.begin = done.lease.batch.begin;
  done.lease.end = done.lease.batch.end;
  return done;
}

// Means need a loss for every sample.
ps::WorkDone as_good_as(const ps::WorkDone& known, ps::WorkDone unknown) {
  unknown.correct = known.correct * unknown.samples / std::max<std::int64_t>(1, known.samples);
  unknown.loss = known.loss;
  unknown.penalty = known.penalty;
  unknown.rate = known.rate;
  return unknown;
}

}  // namespace

std::vector<ps::WorkDone> WorkTally::add(const std::vector<ps::WorkDone>& reports, const Sums& sums) {
  std::vector<ps::WorkDone> out;
  for (const ps::WorkDone& given : reports) {
    const ps::WorkDone part = given.is_reported && given.faulty.empty() ? given : as_good_as(last_, given);
    last_ = part;
    time_.compute += part.compute_seconds;
    time_.wait += part.wait_seconds;
    if (!sums.are_made) {
      out.push_back(part);
      continue;
    }
    const std::int64_t round = part.lease.round;
    Update& update = updates_[round];
    if (update.parts++ == 0)
      update.sum = part;
    else
      add_part(update.sum, part);
    const bool is_complete = round < 0 ? update.parts >= sums.parts : update.sum.samples >= part.lease.batch.size();
    if (!is_complete) continue;
    out.push_back(whole(update.sum));
    updates_.erase(round);
  }
  return out;
}

std::vector<ps::WorkDone> WorkTally::take_rest() {
  std::vector<ps::WorkDone> out;
  for (const auto& [round, update] : std::exchange(updates_, {})) out.push_back(whole(update.sum));
  return out;
}

}  // namespace trireme::train
