// SPDX-License-Identifier: Apache-2.0
// train.on_non_finite = "skip": a step that is not finite is as if it had not been, with every strategy, and is counted.
#include <gmock/gmock.h>

#include <cctype>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "trireme/base/finite.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/source/subset.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Samples of `base` as floats; some of them are not numbers.
class WithBadSamples final : public data::Source {
 public:
  WithBadSamples(std::shared_ptr<const data::Source> base, std::set<std::int64_t> bad)
      : base_(std::move(base)), bad_(std::move(bad)), format_(base_->format()) {
    format_.element = data::Element::f32;
  }
  const data::SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return base_->size(); }
  std::int32_t label(std::int64_t index) const override { return base_->label(index); }
  void read(std::int64_t index, std::span<std::byte> sample) const override {
    std::vector<std::byte> bytes(base_->format().sample_bytes());
    base_->read(index, bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const float value = bad_.contains(index) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(bytes[i]) / 255;
      std::memcpy(sample.data() + i * sizeof value, &value, sizeof value);
    }
  }

 private:
  std::shared_ptr<const data::Source> base_;
  std::set<std::int64_t> bad_;
  data::SampleFormat format_;
};

constexpr std::int64_t kBatch = 64;

std::vector<std::string> settings_with(std::vector<std::string> settings) {
  settings.insert(settings.end(), {"train.epochs=1", "train.on_non_finite=skip", "data.pipeline.shuffle=false"});
  return settings;
}

// In the order of the file, so that sample 64 * k + i is of step k + 1.
std::unique_ptr<Cluster> cluster_with(const std::vector<std::string>& settings, const std::set<std::int64_t>& bad) {
  auto cluster = std::make_unique<Cluster>(settings_with(settings));
  cluster->data.train = std::make_shared<WithBadSamples>(cluster->data.train, bad);
  return cluster;
}

// The samples of one step are not there at all.
std::unique_ptr<Cluster> cluster_without_step(const std::vector<std::string>& settings, std::int64_t step) {
  auto cluster = cluster_with(settings, {});
  std::vector<std::int64_t> rest;
  for (std::int64_t sample = 0; sample < cluster->data.train->size(); ++sample)
    if (sample / kBatch != step - 1) rest.push_back(sample);
  cluster->data.train = std::make_shared<data::Subset>(cluster->data.train, rest);
  return cluster;
}

std::int64_t skipped_in(const Memory& memory) {
  std::int64_t sum = 0;
  for (const StepRecord& step : memory.steps) sum += step.skips.steps;
  return sum;
}

std::string name_of(const testing::TestParamInfo<const char*>& test) {
  std::string name = test.param;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

std::vector<std::string> with_strategy(const char* text) {
  return {"strategy.name=switch", fmt::format("strategy.schedule=['{}']", text), "train.optimizer={name='adam',learning_rate=0.001}"};
}

class SkippedInStep : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, SkippedInStep,
                         testing::Values("allreduce", "allreduce,overlap=false", "allreduce,wire=f16", "ps:bsp", "ps:bsp,servers=1",
                                         "ps:bsp,servers=1,placement=dedicated", "ps:ssp:0"),
                         name_of);

// Sample 64 + 30 is of step 2, and of the second of three workers.
TEST_P(SkippedInStep, ItIsAsIfTheStepHadNotBeen) {
  const auto settings = with_strategy(GetParam());
  const auto cluster = cluster_with(settings, {kBatch + 30});
  const std::vector<Trained> found = cluster->train(3);
  const std::vector<Trained> expected = cluster_without_step(settings, 2)->train(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    // Servers sum in the order in which pushes come, and Adam makes much of a rounding; a step more or less would be 1e-3.
    EXPECT_LT(distance(found[rank].parameters, expected[0].parameters), 1e-5) << rank;
    EXPECT_EQ(found[rank].parameters, found[0].parameters);
    EXPECT_EQ(found[rank].checkpoint.cursor.samples_seen, 330);
    EXPECT_EQ(found[rank].checkpoint.cursor.step, 6);
    EXPECT_EQ(found[rank].checkpoint.cursor.slots_from, 1);  // one update less than steps
  }
  const Memory& record = found[0].memory;
  EXPECT_EQ(skipped_in(record), 1);
  ASSERT_EQ(record.steps.size(), 6U);
  EXPECT_EQ(record.steps[1].skips.steps, 1);
  ASSERT_EQ(record.steps[1].skips.ranks.size(), 1U);
  EXPECT_EQ(record.steps[1].batch.loss, record.steps[0].batch.loss);
  // Not in the epoch's mean either.
  EXPECT_NEAR(record.epochs[0].train.loss, expected[0].memory.epochs[0].train.loss, 1e-5);
}

class SkippedOutOfStep : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, SkippedOutOfStep,
                         testing::Values("local_sgd:2", "local_sgd:100", "ps:async", "ps:async,wire=f16", "ps:async,servers=1",
                                         "ps:async,servers=1,placement=dedicated", "ps:ssp:1", "ps:dssp",
                                         "ps:ssp:1,servers=2,placement=dedicated", "ps:bsp,backup_workers=1"),
                         name_of);

TEST_P(SkippedOutOfStep, TheTrainingGoesOnAndItIsCounted) {
  const auto cluster = cluster_with(with_strategy(GetParam()), {kBatch + 30});
  const std::vector<Trained> found = cluster->train(3);
  for (const Trained& worker : found) {
    EXPECT_TRUE(are_finite(worker.parameters));
    EXPECT_EQ(worker.parameters, found[0].parameters);
    EXPECT_EQ(worker.checkpoint.cursor.samples_seen, 330);
  }
  EXPECT_EQ(skipped_in(found[0].memory), 1);
}

// With a single worker every mode is exact.
TEST(SkippedPush, OfTheOnlyWorkerIsAsIfItHadNotBeen) {
  const auto settings = with_strategy("ps:async,servers=1,placement=dedicated");
  const std::vector<Trained> found = cluster_with(settings, {kBatch + 30})->train(2);
  const std::vector<Trained> expected = cluster_without_step(settings, 2)->train(2);
  // Either of both trainings may round otherwise, and Adam makes much of that (1.05e-6 was seen); a step more or less would be 1e-3.
  EXPECT_LT(distance(found[1].parameters, expected[1].parameters), 1e-5);
  EXPECT_EQ(skipped_in(found[0].memory), 1);
}

TEST(SkippedAlone, IsAsIfItHadNotBeen) {
  const Trained found = cluster_with({}, {kBatch + 30})->alone();
  const Trained expected = cluster_without_step({}, 2)->alone();
  EXPECT_LT(distance(found.parameters, expected.parameters), 1e-6);
  EXPECT_EQ(skipped_in(found.memory), 1);
  EXPECT_THAT(found.memory.steps[1].skips.ranks, testing::ElementsAre(0));
}

// Batch-norm's running means change in forward, before it is known.
std::vector<Trained> with_statistics(const char* strategy, std::int64_t samples, bool leaves_out) {
  std::vector<std::string> settings = with_strategy(strategy);
  settings.insert(settings.end(),
                  {"model={name='resnet',depth=8,batch_norm_momentum=0.99}", "train.optimizer={name='sgd',learning_rate=0.01}",
                   "data.name=synthetic_images", fmt::format("data.samples={}", samples), "data.test_samples=8"});
  std::vector<Trained> trained = (leaves_out ? cluster_without_step(settings, 2) : cluster_with(settings, {kBatch + 30}))->train(3);
  for (const Trained& worker : trained) {
    EXPECT_TRUE(are_finite(worker.checkpoint.states));
    EXPECT_TRUE(are_finite(worker.parameters));
  }
  return trained;
}

TEST(SkippedStatistics, StayFiniteOutOfStep) {
  for (const char* const strategy : {"ps:async", "local_sgd:2"}) with_statistics(strategy, 128, false);
}

class SkippedStatisticsInStep : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, SkippedStatisticsInStep, testing::Values("allreduce", "ps:bsp"), name_of);

// The second step is the last one of the epoch, or there is another.
TEST_P(SkippedStatisticsInStep, AreWhatTheyWereBefore) {
  for (const std::int64_t samples : {128, 160}) {
    const std::vector<Trained> found = with_statistics(GetParam(), samples, false);
    const std::vector<Trained> expected = with_statistics(GetParam(), samples, true);
    for (const Trained& worker : found)
      EXPECT_LT(distance(worker.checkpoint.states, expected[0].checkpoint.states), 1e-5) << "of " << samples;
  }
}

// All of them, step after step.
class TooManySkipped : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, TooManySkipped, testing::Values("allreduce", "local_sgd:2", "ps:bsp", "ps:async"), name_of);

TEST_P(TooManySkipped, EndTheTrainingAsStopDoes) {
  std::vector<std::string> settings = with_strategy(GetParam());
  settings.emplace_back("train.max_skipped_steps=2");
  std::set<std::int64_t> bad;
  for (std::int64_t sample = kBatch; sample < 330; ++sample) bad.insert(sample);
  const auto cluster = cluster_with(settings, bad);
  std::mutex mutex;
  std::vector<std::string> errors;
  thrown_error([&] {
    cluster->train(3, [&](Trainer& trainer, Observer& observer, int) {
      const std::string error = thrown_error([&] { run_to_end(trainer, observer); });
      const std::lock_guard lock(mutex);
      errors.push_back(error);
      throw Error{aborted, "{}", error};
    });
  });
  EXPECT_EQ(errors.size(), 3U);
  // Others may only see that one is gone.
  EXPECT_THAT(errors,
              testing::Contains(AllOf(HasSubstr("out_of_range: step"),
                                      HasSubstr("2 before it in a row were skipped (train.max_skipped_steps)"), HasSubstr("rank"))));
}

}  // namespace
}  // namespace trireme::train
