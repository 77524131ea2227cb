// SPDX-License-Identifier: Apache-2.0
// The noise scale that a real team reports, against gradients computed again for each worker.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "trireme/train/team/noise_scale.h"
#include "trireme/train/team/replica.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

const std::vector<double> kShares{40, 1, 23};  // of the last batch of an epoch, 10 samples, the second worker gets nothing

// Where the team stood before a step.
struct Standing {
  Cursor cursor;
  std::vector<float> parameters;
};

// The gradient of worker `rank` in that step; nothing if it has no samples.
std::vector<float> gradient(const Cluster& cluster, const Standing& standing, int rank, double& samples) {
  data::BatchStream stream(cluster.data.train,
                           data::Transform(cluster.data.train->format(), cluster.data.normalization, cluster.job.data.augment),
                           {.batch_size = cluster.job.train.batch_size,
                            .seed = static_cast<std::uint64_t>(cluster.job.train.seed),
                            .shuffle = cluster.job.data.pipeline.shuffle,
                            .interleave = cluster.job.data.pipeline.interleave,
                            .epochs = cluster.job.train.epochs,
                            .first_epoch = standing.cursor.epoch,
                            .first_offset = standing.cursor.epoch_offset,
                            .shares = kShares,
                            .rank = rank},
                           cluster.clock);
  const data::Batch& batch = *stream.next();
  samples = static_cast<double>(batch.size);
  if (batch.size == 0) return {};
  Replica replica(cluster.job, cluster.cache());
  replica.compile(batch.size);
  replica.parameters() = standing.parameters;
  replica.compute(batch);
  return {replica.gradients().begin(), replica.gradients().end()};
}

// As the definitions say, without anything that the team uses.
GradientSquares squares(const Cluster& cluster, const Standing& standing) {
  GradientSquares out;
  std::vector<double> mean(standing.parameters.size());
  for (int rank = 0; rank < 3; ++rank) {
    double samples = 0;
    const std::vector<float> own = gradient(cluster, standing, rank, samples);
    if (own.empty()) continue;
    ++out.workers;
    out.batch_size += samples;
    for (std::size_t i = 0; i < own.size(); ++i) {
      out.local += samples * own[i] * own[i];
      mean[i] += samples * own[i];
    }
  }
  out.local /= out.batch_size;
  for (const double value : mean) out.mean += std::pow(value / out.batch_size, 2);
  return out;
}

class Measuring : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, Measuring, testing::Values("strategy.overlap=true", "strategy.overlap=false"));

TEST_P(Measuring, FindsWhatDirectComputationFinds) {
  const Cluster cluster({"strategy.noise_scale=true", "strategy.shares=equal", "strategy.fusion_mb=0.05", GetParam()});
  std::map<std::int64_t, Standing> before;  // steps that measure
  const std::vector<Trained> team = cluster.train(3, [&](Trainer& trainer, Observer& observer, int rank) {
    {
      const std::lock_guard in_turn(cluster.compiling);
      trainer.apply_shares(kShares);
    }
    while (!trainer.finished()) {
      const std::int64_t next = trainer.cursor().step + 1;
      if (rank == 0 && next % 16 == 0)
        before[next] = {trainer.cursor(), {trainer.replica().parameters().begin(), trainer.replica().parameters().end()}};
      trainer.advance(observer);
    }
  });
  ASSERT_EQ(before.size(), 3U);
  NoiseScale expected;
  std::vector<std::int64_t> workers;
  for (const StepRecord& record : team[0].memory.steps) {
    if (record.step % 16 != 0) {
      EXPECT_EQ(record.noise_scale, 0) << record.step;
      continue;
    }
    const GradientSquares direct = squares(cluster, before.at(record.step));
    workers.push_back(direct.workers);
    expected.add(direct);
    EXPECT_GT(record.noise_scale, 0) << record.step;
    EXPECT_NEAR(record.noise_scale, expected.value(), 1e-3 * expected.value()) << record.step;
  }
  EXPECT_THAT(workers, testing::ElementsAre(3, 3, 2)) << "step 48 is the last of an epoch";
  for (std::size_t i = 0; i < team[0].memory.steps.size(); ++i)
    EXPECT_EQ(team[1].memory.steps[i].noise_scale, team[0].memory.steps[i].noise_scale) << "all workers find the same";
}

TEST(MeasuringNoise, ChangesNothingOfTheTraining) {
  const Cluster plain({"train.epochs=3"});
  const Cluster measuring({"train.epochs=3", "strategy.noise_scale=true"});
  EXPECT_LT(distance(measuring.train(2)[0].parameters, plain.train(2)[0].parameters), 1e-6);
}

TEST(MeasuringNoise, IsNotDoneUnasked) {
  const std::vector<Trained> team = Cluster({"train.epochs=3"}).train(2);
  ASSERT_FALSE(team[0].memory.steps.empty());
  for (const StepRecord& record : team[0].memory.steps) EXPECT_EQ(record.noise_scale, 0);
}

}  // namespace
}  // namespace trireme::train
