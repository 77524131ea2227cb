// SPDX-License-Identifier: Apache-2.0
// Sums over the steps that were profiled.
#include "trireme/train/loop/profile_data.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "trireme/base/clock.h"

namespace trireme::train {

double Spread::deviation(std::int64_t count) const {
  if (count < 2) return 0;
  const auto n = static_cast<double>(count);
  return std::sqrt(std::max(0.0, (squares_ - sum_ * sum_ / n) / (n - 1)));
}

OpStatistics& OpProfile::row(const std::string& name, const std::string& category, const std::string& pass, double seconds) {
  OpStatistics& of = rows_[{name, category, pass}];
  of.wall.add(seconds);
  if (!of.is_beside) of_step_[category] += seconds;
  return of;
}

// Returns the seconds that forward waited for values: an exchange, too.
double OpProfile::add_ops(const Step& step, const engine::OpTable& table, const engine::OpTimes& ops) {
  std::vector<double> wall(table.rows.size()), thread(table.rows.size());
  std::vector<std::int64_t> runs(table.steps.size());
  double forward = 0, backward = 0, waited = 0;
  for (const auto& lane : ops.lanes)
    for (const engine::OpTimes::Run& run : lane) {
      const std::size_t row = table.steps[run.step].row;
      const double seconds = run.share * run.seconds;
      wall[row] += seconds;
      thread[row] += run.share < 1 ? run.seconds : run.seconds * static_cast<double>(table.lanes);
      ++runs[run.step];
      (run.begin < ops.forward_end ? forward : backward) += seconds;
      if (run.step == table.waiting_for_values()) waited += seconds;
    }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const engine::OpRow& of = table.rows[i];
    if (thread[i] == 0) continue;  // it did not run
    OpStatistics& statistics = row(of.name, of.category, of.pass == engine::Pass::forward ? "forward" : "backward", wall[i]);
    statistics.fused = of.fused;
    statistics.thread_seconds += thread[i];
    statistics.flops += of.flops * static_cast<double>(step.samples);
    statistics.bytes += of.sample_bytes * static_cast<double>(step.samples) + of.weight_bytes;
  }
  // A step by part counts once, however many parts there are.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const engine::OpRow& of = table.rows[table.steps[i].row];
    const auto found = rows_.find({of.name, of.category, of.pass == engine::Pass::forward ? "forward" : "backward"});
    if (found != rows_.end()) found->second.calls += i < table.waiting_for_values() ? std::min<std::int64_t>(runs[i], 1) : runs[i];
  }
  row("between ops", "between ops", "forward", std::max(0.0, ops.forward_end - ops.begin - forward));
  row("between ops", "between ops", "backward", std::max(0.0, ops.end - ops.forward_end - backward));
  return waited;
}

void OpProfile::add(const Step& step, const engine::OpTable* table, const engine::OpTimes* ops) {
  ++steps_;
  seconds_.add(step.seconds);
  of_step_.clear();
  const double computed = ops != nullptr ? ops->end - ops->begin : step.times.compute();
  const double waited = ops != nullptr ? add_ops(step, *table, *ops) : 0;
  const double exposed = std::max(0.0, step.times.exposed - waited);
  if (step.times.exchange > 0) {
    row("exchange exposed", "exchange", "update", exposed).calls += 1;
    rows_[{"exchange overlapped", "exchange", "update"}].is_beside = true;
    row("exchange overlapped", "exchange", "update", step.times.hidden()).calls += 1;
  }
  if (step.times.optimizer > 0) row("optimizer", "optimizer", "update", step.times.optimizer).calls += 1;
  row("input wait", "data", "input", step.input_wait).calls += 1;
  row("rest of the step", "rest", "update", std::max(0.0, step.seconds - step.input_wait - computed - exposed - step.times.optimizer));
  for (const auto& [category, seconds] : of_step_) categories_[category].add(seconds);
}

double own_time_offset() {
  const double steady = SteadyClock().now().count();
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() - steady;
}

}  // namespace trireme::train
