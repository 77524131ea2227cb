// SPDX-License-Identifier: Apache-2.0
// Class weights of a job: counted from labels, or as they are given; and mistakes with their place.
#include "trireme/train/job/class_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/train/testing/job.h"

namespace trireme::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ClassWeights, BalancedGiveEachClassTheSameSumAndTheMeanOne) {
  const Job job = job_with(kDigitsJob, {"train.class_weights=balanced", "data.samples=103"});
  const data::DataSets data = data::open_data(job.data, testing::TempDir());
  const std::vector<float> weights = class_weights(job, *data.train);
  ASSERT_EQ(weights.size(), 10U);
  std::vector<double> sums(10);
  double sum = 0;
  for (std::int64_t i = 0; i < data.train->size(); ++i) {
    const auto label = static_cast<std::size_t>(data.train->label(i));
    sums[label] += static_cast<double>(weights[label]);
    sum += static_cast<double>(weights[label]);
  }
  for (const double of_class : sums) EXPECT_NEAR(of_class, 10.3, 1e-4);
  EXPECT_NEAR(sum / 103, 1, 1e-6);
}

TEST(ClassWeights, NumbersAreTakenAsTheyAre) {
  const Job job = job_with(kDigitsJob, {"train.class_weights=[1, 2.5, 0, 1, 1, 1, 1, 1, 1, 1e-1]"});
  const data::DataSets data = data::open_data(job.data, testing::TempDir());
  EXPECT_THAT(class_weights(job, *data.train), testing::ElementsAre(1, 2.5F, 0, 1, 1, 1, 1, 1, 1, 0.1F));
  EXPECT_TRUE(class_weights(job_with(kDigitsJob), *data.train).empty());
}

TEST(ClassWeights, MistakesAreNamedWithTheirPlace) {
  const auto complaint = [](const std::vector<std::string>& settings) { return thrown_error([&] { job_with(kDigitsJob, settings); }); };
  EXPECT_THAT(complaint({"train.class_weights=[1, 2]"}), AllOf(HasSubstr("--set"), HasSubstr("2 class_weights for 10 classes")));
  EXPECT_THAT(complaint({"train.class_weights=blanced"}), HasSubstr("not 'blanced'"));
  EXPECT_THAT(complaint({"train.class_weights=[1,1,1,1,1,1,1,1,1,-1]"}), HasSubstr("not '-1'"));
  EXPECT_THAT(complaint({"train.class_weights=[0,0,0,0,0,0,0,0,0,0]"}), HasSubstr("nothing is learned"));
  EXPECT_THAT(complaint({"train.class_weights=balanced", "model.loss=mean_squared_error"}),
              HasSubstr("the loss mean_squared_error has none"));
}

// What a run keeps is read again as what it was.
TEST(ClassWeights, ComeBackFromTheJobFileOfARun) {
  Config config = Config::parse_toml(kDigitsJob, "job.toml");
  const std::string plain = job_hash(config);
  config.set("train.class_weights", "[1, 2, 1, 1, 1, 1, 1, 1, 1, 0.5]", "--set");
  const Config again = Config::parse_toml(job_file_of(settings_of(config)), "config.toml");
  EXPECT_EQ(job_from_config(again).train.class_weights, job_from_config(config).train.class_weights);
  EXPECT_EQ(job_hash(again), job_hash(config));
  EXPECT_NE(job_hash(config), plain);
}

}  // namespace
}  // namespace trireme::train
