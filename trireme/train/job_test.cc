// SPDX-License-Identifier: Apache-2.0
// Job files: what they mean, and what their mistakes are told.
#include "trireme/train/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

Job read(std::string_view text) { return job_from_config(Config::parse_toml(text, "job.toml")); }

std::string complaint(std::string_view text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Job, HasDefaults) {
  const Job job = read("[model]\nname = 'mnist_cnn'");
  EXPECT_EQ(job.train.batch_size, 128);
  EXPECT_EQ(job.data.name, "synthetic_digits");
}

TEST(Job, ReadsEveryTable) {
  const Job job = read(R"(
[model]
name = "mnist_cnn"
[data]
samples = 500
[train]
epochs = 3
batch_size = 32
[train.optimizer]
name = "adam"
learning_rate = 0.01
[train.schedule]
kind = "cosine"
)");
  EXPECT_EQ(job.data.samples, 500);
  EXPECT_EQ(job.train.epochs, 3);
  EXPECT_EQ(job.train.batch_size, 32);
  EXPECT_EQ(job.optimizer.at("name").text(), "adam");
  EXPECT_EQ(job.schedule.kind, "cosine");
}

TEST(Job, TellsMistakesWithTheirPlace) {
  const std::string model = "[model]\nname = 'mnist_cnn'\n";
  EXPECT_THAT(complaint(model + "[train]\nepoch = 3"), testing::AllOf(testing::HasSubstr("job.toml:4"), testing::HasSubstr("'epochs'")));
  EXPECT_THAT(complaint(model + "[trains]\nepochs = 3"), testing::HasSubstr("did you mean [train]?"));
  EXPECT_THAT(complaint(model + "[train]\nbatch_size = 0"), testing::HasSubstr("must be 1 to"));
  EXPECT_THAT(complaint(model + "[train.optimizer]\nname = 'sdg'"), testing::HasSubstr("sgd"));
  EXPECT_THAT(complaint(model + "[train.schedule]\nkind = 'cosin'"), testing::HasSubstr("cosine"));
  EXPECT_THAT(complaint("[train]\nepochs = 3"), testing::HasSubstr("'model' is missing"));
}

}  // namespace
}  // namespace trireme::train
