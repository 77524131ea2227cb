// SPDX-License-Identifier: Apache-2.0
// What people type first means what they mean, or they are shown the line to write.
#include "trireme/run/setup/short_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/train/job/job.h"

namespace trireme::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Config expanded(const std::string& text, const std::vector<std::string>& settings = {}) {
  Config job = Config::parse_toml(text, "job.toml");
  apply_settings(job, settings);
  return job;
}
std::string failure(const std::string& text, const std::vector<std::string>& settings = {}) {
  return thrown_error([&] { expanded(text, settings); });
}

TEST(ShortForms, MeanTheTable) {
  const Config job = expanded(R"(
model = "mnist_cnn"
data = "synthetic_digits"
strategy = "ps:ssp:4"
[train]
optimizer = "adam"
learning_rate = 0.1
schedule = "cosine"
)");
  const train::Job read = train::job_from_config(job);
  EXPECT_EQ(read.optimizer.at("name").text(), "adam");
  EXPECT_EQ(read.optimizer.at("learning_rate").real(), 0.1);
  EXPECT_EQ(job.at("train").at("optimizer").at("learning_rate").origin(), "job.toml:7");
  EXPECT_EQ(read.schedule.kind, "cosine");
  EXPECT_EQ(read.strategy.name, "ps");
  EXPECT_EQ(job.at("strategy").at("staleness").integer(), 4);
}

TEST(ShortForms, OfSettingsChangeTheFile) {
  const std::string file = "[train.optimizer]\nname = 'sgd'\nlearning_rate = 0.1\n";
  EXPECT_EQ(expanded(file, {"train.learning_rate=0.5"}).at("train").at("optimizer").at("learning_rate").real(), 0.5);
  EXPECT_EQ(expanded(file, {"train.optimizer=adam"}).at("train").at("optimizer").to_toml(), "{ \"name\" = \"adam\" }");
  EXPECT_EQ(expanded(file, {"train.optimizer={name = \"adam\", learning_rate = 0.01}"}).at("train").at("optimizer").at("name").text(),
            "adam");
  EXPECT_EQ(expanded(file, {"train.schedule.boundaries=[1, 2.5]"}).at("train").at("schedule").at("boundaries").list().size(), 2U);
}

TEST(ShortForms, WhatStandsAtTheWrongPlaceIsShownTheRightOne) {
  EXPECT_THAT(failure("[train]\nmomentum = 0.9\n"), AllOf(HasSubstr("job.toml:2"), HasSubstr("`optimizer.momentum = 0.9`")));
  EXPECT_THAT(failure("[train]\nwarmup_epochs = 1\n"), HasSubstr("[train.schedule]"));
  EXPECT_THAT(failure("[train]\npatience = 3\n"), HasSubstr("[train.early_stopping]"));
  EXPECT_THAT(failure("[train]\nlearning_rate = 1\n[train.optimizer]\nlearning_rate = 2\n"),
              AllOf(HasSubstr("job.toml:2"), HasSubstr("job.toml:4")));
  EXPECT_THAT(failure("", {"train.optimizer={name = adam}"}), AllOf(HasSubstr("--set train.optimizer"), HasSubstr("need quotes")));
}

}  // namespace
}  // namespace trireme::run
