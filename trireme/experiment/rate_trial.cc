// SPDX-License-Identifier: Apache-2.0
// Steps of one replica, without a loop around it: no evaluation, no checkpoint, no schedule.
#include "trireme/experiment/rate_trial.h"

#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/finite.h"
#include "trireme/base/parallel.h"
#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/data/pipeline/transform.h"
#include "trireme/train/job/class_weights.h"
#include "trireme/train/team/replica.h"

namespace trireme::experiment {
namespace {

data::StreamOptions stream_options(const train::Job& job) {
  const data::PipelineOptions& pipeline = job.data.pipeline;
  return {.batch_size = job.train.batch_size,
          .seed = static_cast<std::uint64_t>(job.train.seed),
          .shuffle = pipeline.shuffle,
          .interleave = pipeline.interleave,
          .threads = pipeline.threads,
          .prefetch = pipeline.prefetch};
}

}  // namespace

RateTrial try_rates(const train::Job& job, const data::DataSets& data, const RateTrialOptions& options, const Clock& clock,
                    const std::atomic<int>& stop) {
  train::Replica replica(job, options.algorithm_cache);
  replica.set_class_weights(train::class_weights(job, *data.train));
  replica.compile(job.train.batch_size);
  const ThreadScope threads(replica.compile_report().threads);
  data::BatchStream batches(data.train, data::Transform(data.train->format(), data.normalization, job.data.augment), stream_options(job),
                            clock);
  DivergenceWatch watch;
  RateTrial trial;
  for (int step = 0; step < options.steps && !trial.has_diverged; ++step) {
    if (stop != 0) throw Error{cancelled, "interrupted after {} of {} steps; nothing is kept", step, options.steps};
    const RateStep done{.rate = rate_at(step, options.steps, options.from, options.to), .loss = replica.compute(*batches.next()).loss};
    trial.has_diverged = watch.add(done.loss) || !are_finite(replica.gradients());
    if (std::isfinite(done.loss)) trial.steps.push_back(done);
    if (options.on_step) options.on_step(step + 1, done);
    replica.update(done.rate, step + 1);
  }
  return trial;
}

}  // namespace trireme::experiment
