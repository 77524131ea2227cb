// SPDX-License-Identifier: Apache-2.0
// How batch_norm's running statistics follow those of the batches: first as the mean of all of them, then as a moving one.
#pragma once

namespace trireme::graph {

// Where floats cease to count by ones. Also what a checkpoint says that does not know how many updates its statistics had.
inline constexpr float kManyUpdates = 1 << 24;

struct StatisticsUpdate {
  double kept = 0;    // running = kept * running + (1 - kept) * batch
  float updates = 0;  // the count after it
};

// The n-th update keeps min(momentum, (n - 1) / n): the first copies the batch, and each weighs the same until there are
// 1 / (1 - momentum). From there on the count stays, so that workers with different numbers of steps behind them agree on it again.
//
// `updates` is a state like those that it counts for: it is restored, averaged over workers, handed over and saved with them. Workers
// that make the same steps count alike. Those that don't (ps:async, ssp, dssp) count their own steps, as each moves its own mean; an
// average of their statistics, weighted with their samples, is as old as the average of their counts. That may be a fraction, and even
// equal counts are averaged with rounding errors: the nearest whole number counts.
StatisticsUpdate next_update(double momentum, float updates);

}  // namespace trireme::graph
