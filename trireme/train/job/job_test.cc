// SPDX-License-Identifier: Apache-2.0
// Job files: what they mean, what is reported of their mistakes, and where every value comes from.
#include "trireme/train/job/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kModel = "[model]\nname = 'mnist_cnn'\n";
const std::string kData = "[data]\nname = 'synthetic_digits'\n";

Job read(std::string_view text) { return job_from_config(Config::parse_toml(text, "job.toml")); }

std::string complaint(const std::string& text) {
  return thrown_error([&] { read(text); });
}

TEST(Job, HasDefaults) {
  const Job job = read(kModel + kData);
  EXPECT_EQ(job.train.batch_size, 128);
  EXPECT_EQ(job.data.reader->name, "synthetic_digits");
}

TEST(Job, ReadsEveryTable) {
  const Job job = read(R"(
[model]
name = "mnist_cnn"
[data]
name = "synthetic_digits"
samples = 500
validation = 0.1
[data.augment]
pad = 2
[data.pipeline]
cache = "none"
[train]
epochs = 3
batch_size = 32
[train.early_stopping]
patience = 2
[train.optimizer]
name = "adam"
learning_rate = 0.01
[train.schedule]
kind = "cosine"
)");
  EXPECT_EQ(job.data.augment.pad, 2);
  EXPECT_EQ(job.data.pipeline.cache, "none");
  EXPECT_EQ(job.train.epochs, 3);
  EXPECT_EQ(job.train.batch_size, 32);
  EXPECT_EQ(job.early_stopping.patience, 2);
  EXPECT_EQ(job.optimizer.at("name").text(), "adam");
  EXPECT_EQ(job.schedule.kind, "cosine");
}

TEST(Job, ReportsMistakesWithTheirPlace) {
  const std::string good = kModel + kData;
  EXPECT_THAT(complaint(good + "[train]\nepoch = 3"), AllOf(HasSubstr("job.toml:6"), HasSubstr("'epochs'")));
  EXPECT_THAT(complaint(good + "[trains]\nepochs = 3"), HasSubstr("did you mean [train]?"));
  EXPECT_THAT(complaint(good + "[train]\nbatch_size = 0"), HasSubstr("must be 1 to"));
  EXPECT_THAT(complaint(good + "[train.optimizer]\nname = 'sdg'"), HasSubstr("sgd"));
  EXPECT_THAT(complaint(good + "[train.schedule]\nkind = 'cosin'"), HasSubstr("cosine"));
  EXPECT_THAT(complaint(good + "[train.early_stopping]\npatience = 3"), HasSubstr("set data.validation"));
  EXPECT_THAT(complaint("[train]\nepochs = 3"), HasSubstr("'model' is missing"));
  EXPECT_THAT(complaint(kModel), HasSubstr("[data] needs name"));
}

TEST(Job, WatchesWithoutBeingAnotherJob) {
  const std::string good = kModel + kData;
  EXPECT_EQ(read(good).observe.profile, "");
  EXPECT_EQ(read(good + "[observe]\nprofile = 'steps 3-5'").observe.profile, "steps 3-5");
  EXPECT_THAT(complaint(good + "[observe]\nprofile = '3 to 5'"), HasSubstr("steps 100-119"));
  const auto hash = [](const std::string& text) { return job_hash(Config::parse_toml(text, "job.toml")); };
  EXPECT_EQ(hash(good), hash(good + "[observe]\nprofile = 'steps 3-5'"));
}

// Every node compares the hash of its own file with that of the job the coordinator has completed.
TEST(Job, FollowsTheDataWithoutBeingAnotherJob) {
  const Config written = Config::parse_toml("[model]\nname = 'resnet'\ndepth = 8\n" + kData, "job.toml");
  const Config job = fit_to_data(written, {.shape = {1, 16, 16}, .classes = 7});
  EXPECT_EQ(job_from_config(job).graph.parameters().size(),
            job_from_config(Config::parse_toml(job_file_of(settings_of(job)), "config.toml")).graph.parameters().size());
  EXPECT_EQ(job.at("model").at("classes").integer(), 7);
  EXPECT_EQ(job_hash(job), job_hash(written));
  EXPECT_THAT(job_file_of(settings_of(job)), HasSubstr("# the data"));
  EXPECT_NE(job_hash(job), job_hash(Config::parse_toml("[model]\nname = 'resnet'\ndepth = 14\n" + kData, "job.toml")));
}

TEST(Job, IsCheckedAsFarAsItsModelCanBeWithoutData) {
  const auto check = [](const std::string& layer) {
    return thrown_error([&] {
      check_job(
          Config::parse_toml("[model]\n[[model.layers]]\nop = 'input'\n[[model.layers]]\nop = 'dense'\n" + layer + kData, "job.toml"));
    });
  };
  EXPECT_EQ(check(""), "no error");
  EXPECT_THAT(check("unit = 3\n"), AllOf(HasSubstr("job.toml:6"), HasSubstr("'units'")));
}

TEST(Settings, StateEveryValueAndItsOrigin) {
  Config config = Config::parse_toml(kModel + kData + "[train]\nepochs = 3", "job.toml");
  config.set("train.optimizer.learning_rate", "0.5", "--set train.optimizer.learning_rate=0.5");
  const auto settings = settings_of(config);
  const auto origin = [&](std::string_view table, std::string_view key) {
    const auto found = std::ranges::find_if(settings, [&](const Setting& s) { return s.table == table && s.key == key; });
    return found == settings.end() ? "nowhere" : found->value + " from " + found->origin;
  };
  EXPECT_EQ(origin("train", "epochs"), "3 from job.toml:6");
  EXPECT_EQ(origin("train", "batch_size"), "128 from default");
  EXPECT_EQ(origin("train.optimizer", "name"), "\"sgd\" from default");
  EXPECT_EQ(origin("train.optimizer", "learning_rate"), "0.5 from --set train.optimizer.learning_rate=0.5");
  EXPECT_EQ(origin("data", "samples"), "10000 from default");
  EXPECT_EQ(origin("model", "name"), "\"mnist_cnn\" from job.toml:2");
}

// A run keeps its settings as a job file: read again they must mean the same.
TEST(Settings, AsAJobFileMeanTheSameJob) {
  const std::string layered = "[model]\n[[model.layers]]\nop = 'input'\nwidth = 784\n[[model.layers]]\nop = 'dense'\nunits = 10\n" + kData +
                              "class_names = ['a b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']\n[train.schedule]\nkind = "
                              "'piecewise'\nboundaries = [1.5, 2]\nfactors = [0.1, 1e-9]\n";
  for (const std::string& text : {kModel + kData, layered}) {
    const auto settings = settings_of(Config::parse_toml(text, "job.toml"));
    const auto again = settings_of(Config::parse_toml(job_file_of(settings), "config.toml"));
    ASSERT_EQ(settings.size(), again.size());
    for (std::size_t i = 0; i < settings.size(); ++i) {
      EXPECT_EQ(settings[i].key, again[i].key);
      EXPECT_EQ(settings[i].value, again[i].value) << settings[i].key;
    }
  }
}

}  // namespace
}  // namespace trireme::train
