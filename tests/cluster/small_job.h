// SPDX-License-Identifier: Apache-2.0
// The job of most tests with real processes: seconds long, in steps of milliseconds, and with the same bits each time.
#pragma once

#include <fmt/format.h>

#include <string>

namespace trireme::tests {

struct SmallJob {
  int samples = 3000;
  int epochs = 6;
  int batch_size = 50;
  double checkpoint_seconds = 0.2;
  std::string optimizer = "adam";
};

inline std::string small_job(const SmallJob& job = {}) {
  return fmt::format(R"(
[model]
name = "mlp_128"
[data]
name = "synthetic_digits"
samples = {}
test_samples = 200
[train]
epochs = {}
batch_size = {}
checkpoint_seconds = {}
[train.optimizer]
name = "{}"
[strategy]
shares = "equal"
)",
                     job.samples, job.epochs, job.batch_size, job.checkpoint_seconds, job.optimizer);
}

}  // namespace trireme::tests
