// SPDX-License-Identifier: Apache-2.0
// Counts pushes, and lets go on who is not too far ahead.
#include "trireme/ps/pace.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trireme/base/error.h"

namespace trireme::ps {
namespace {

constexpr std::size_t kIntervals = 5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// That the fastest may have without asking when others will come.
std::int64_t lower_bound_of(const Rules& rules) {
  if (rules.mode == Mode::dssp) return rules.staleness_min;
  return rules.mode == Mode::ssp ? rules.staleness : 0;
}

}  // namespace

std::int64_t further_pushes(const PushTimes& fast, const PushTimes& slow, std::int64_t r_max) {
  std::int64_t best = 0;
  double shortest = std::numeric_limits<double>::infinity();
  const double equal = 1e-9 * std::max(fast.interval, slow.interval);  // what rounding makes of equal waits
  for (std::int64_t r = 0; r <= r_max; ++r) {
    for (std::int64_t k = 0; k <= r_max; ++k) {
      const double fast_at = fast.last + static_cast<double>(r) * fast.interval;
      const double slow_at = slow.last + static_cast<double>(k + 1) * slow.interval;
      const double wait = std::abs(fast_at - slow_at);
      if (wait + equal >= shortest) continue;
      shortest = wait;
      best = r;
    }
  }
  return best;
}

Pace::Pace(const Rules& rules, int workers) : rules_(rules), workers_(static_cast<std::size_t>(workers)) {}

void Pace::pushed(int worker, Seconds now) {
  Worker& w = of(worker);
  ensure(!w.retired, "a retired worker pushes no more");
  ++w.pushes;
  if (w.since) w.intervals.push_back(now.count() - *w.since);
  if (w.intervals.size() > kIntervals) w.intervals.erase(w.intervals.begin());
  w.last = now.count();
  w.may_go_on = decide(w);
  w.since = w.may_go_on ? std::optional(w.last) : std::nullopt;
  release(now);
}

void Pace::retire(int worker) {
  of(worker).retired = true;
  release(std::nullopt);
}

bool Pace::decide(Worker& worker) {
  if (rules_.mode == Mode::async || is_near(worker)) {
    worker.allowance = 0;
    return true;
  }
  if (rules_.mode != Mode::dssp) return false;
  if (worker.allowance == 0) worker.allowance = allowance_of(worker);
  if (worker.allowance == 0) return false;
  --worker.allowance;
  return true;
}

bool Pace::is_near(const Worker& worker) const { return worker.pushes - reference() <= lower_bound_of(rules_); }

// How often the fastest may still go on before it waits: never with more than staleness_max pushes ahead.
std::int64_t Pace::allowance_of(const Worker& worker) const {
  const auto is_faster = [&](const Worker& other) { return !other.retired && other.pushes > worker.pushes; };
  if (std::ranges::any_of(workers_, is_faster)) return 0;
  const Worker* slow = nullptr;
  for (const Worker& other : workers_) {
    if (other.retired) continue;
    if (slow == nullptr || other.pushes < slow->pushes) slow = &other;
  }
  if (slow == nullptr || worker.intervals.empty() || slow->intervals.empty()) return 0;
  const std::int64_t most = rules_.staleness_max - (worker.pushes - slow->pushes) + 1;
  if (most <= 0) return 0;
  return further_pushes({worker.last, median(worker.intervals)}, {slow->last, median(slow->intervals)}, most);
}

// Those that wait and are near enough now. A time that is not known makes no interval.
void Pace::release(std::optional<Seconds> now) {
  for (Worker& worker : workers_) {
    if (worker.may_go_on || !is_near(worker)) continue;
    worker.may_go_on = true;
    worker.allowance = 0;
    if (now) worker.since = now->count();
  }
}

bool Pace::may_go_on(int worker) const { return of(worker).may_go_on; }

std::int64_t Pace::ahead(int worker) const { return std::max<std::int64_t>(0, of(worker).pushes - slowest()); }

std::int64_t Pace::pushes(int worker) const { return of(worker).pushes; }

int Pace::active() const {
  return static_cast<int>(std::ranges::count_if(workers_, [](const Worker& worker) { return !worker.retired; }));
}

bool Pace::is_retired(int worker) const { return of(worker).retired; }

std::vector<std::int64_t> Pace::active_pushes() const {
  std::vector<std::int64_t> pushes;
  for (const Worker& worker : workers_) {
    if (!worker.retired) pushes.push_back(worker.pushes);
  }
  return pushes;
}

// If all are retired no worker waits for another.
std::int64_t Pace::slowest() const {
  const auto pushes = active_pushes();
  return pushes.empty() ? std::numeric_limits<std::int64_t>::max() : std::ranges::min(pushes);
}

// Backup workers may be late, whichever they are.
std::int64_t Pace::reference() const {
  if (rules_.mode != Mode::bsp || rules_.backup_workers == 0) return slowest();
  auto pushes = active_pushes();
  if (pushes.empty()) return slowest();
  std::ranges::sort(pushes);
  return pushes[std::min(static_cast<std::size_t>(rules_.backup_workers), pushes.size() - 1)];
}

}  // namespace trireme::ps
