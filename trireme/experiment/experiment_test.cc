// SPDX-License-Identifier: Apache-2.0
// Files with [compare] to variants and back.
#include "trireme/experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/train/job/job.h"

namespace trireme::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kJob = R"(
[model]
name = "mlp_128"
[data]
name = "synthetic_digits"
[train]
epochs = 3
batch_size = 50
[strategy]
name = "local_sgd"
steps = 4
)";

constexpr std::string_view kCompare = R"(
[compare]
title = "both ways"
nodes = 2
seeds = [4, 7]
variants = [
  { label = "MW", strategy = { name = "allreduce" }, published = { accuracy = 0.9, seconds = 12 } },
  { label = "PS 10%", strategy = { name = "ps", mode = "bsp" }, train = { batch_size = 60 }, nodes = 3 },
]
)";

class ExperimentFiles : public testing::Test {
 protected:
  ExperimentFiles() : folder_(std::filesystem::path(testing::TempDir()) / ("trireme_experiment_" + std::to_string(::getpid()))) {}
  ~ExperimentFiles() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_ / name, text);
    return (folder_ / name).string();
  }
  std::string compare_file(const std::string& compare = std::string(kCompare)) const { return file("e.toml", std::string(kJob) + compare); }
  static std::string fault_of(const std::vector<std::string>& files) {
    try {
      read_experiment(files, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(ExperimentFiles, AVariantReplacesTheStrategyAndChangesOtherTables) {
  const Experiment experiment = read_experiment({compare_file()}, {});
  EXPECT_EQ(experiment.title, "both ways");
  EXPECT_THAT(experiment.seeds, ElementsAre(4, 7));
  ASSERT_EQ(experiment.variants.size(), 2U);
  const Variant& mw = experiment.variants[0];
  EXPECT_EQ(mw.nodes, 2);
  EXPECT_EQ(mw.published.at("seconds"), 12);
  EXPECT_EQ(mw.job.at("strategy").table().size(), 1U) << "options of another strategy are still there";
  EXPECT_EQ(mw.job.at("train").at("batch_size").integer(), 50);
  const Variant& ps = experiment.variants[1];
  EXPECT_EQ(ps.folder, "ps-10");
  EXPECT_EQ(ps.nodes, 3);
  EXPECT_EQ(ps.job.at("train").at("batch_size").integer(), 60);
  EXPECT_EQ(ps.job.at("train").at("epochs").integer(), 3);
  EXPECT_EQ(ps.job.find("compare"), nullptr);
}

TEST_F(ExperimentFiles, WhatIsKeptIsReadAsTheSame) {
  const Experiment experiment = read_experiment({compare_file()}, {.nodes = 0, .seeds = 0, .settings = {"train.epochs=9"}});
  const Experiment again = read_experiment({file("kept.toml", to_toml(experiment))}, {});
  EXPECT_EQ(again.title, experiment.title);
  EXPECT_EQ(again.seeds, experiment.seeds);
  ASSERT_EQ(again.variants.size(), experiment.variants.size());
  for (std::size_t i = 0; i < again.variants.size(); ++i) {
    EXPECT_EQ(job_text(again.variants[i], 5), job_text(experiment.variants[i], 5));
    EXPECT_EQ(again.variants[i].published, experiment.variants[i].published);
    EXPECT_EQ(again.variants[i].nodes, experiment.variants[i].nodes);
  }
  EXPECT_EQ(again.variants[0].job.at("train").at("epochs").integer(), 9);
}

TEST_F(ExperimentFiles, TheJobOfARunHasItsSeedAndIsAJob) {
  const Experiment experiment = read_experiment({compare_file()}, {});
  const Config job = Config::parse_toml(job_text(experiment.variants[1], 7), "job");
  const train::Job read = train::job_from_config(job);
  EXPECT_EQ(read.train.seed, 7);
  EXPECT_EQ(read.strategy.name, "ps");
}

TEST_F(ExperimentFiles, SeveralJobFilesAreVariantsNamedAfterThem) {
  const Experiment experiment =
      read_experiment({file("one.toml", std::string(kJob)), file("two.toml", std::string(kJob))}, {.nodes = 2, .seeds = 3, .settings = {}});
  ASSERT_EQ(experiment.variants.size(), 2U);
  EXPECT_EQ(experiment.variants[1].label, "two");
  EXPECT_THAT(experiment.seeds, ElementsAre(1, 2, 3));
}

TEST_F(ExperimentFiles, MistakesAreReportedWithTheirPlace) {
  EXPECT_THAT(fault_of({compare_file("[compare]\nvariant = []\n")}), HasSubstr("e.toml:13: [compare] has no 'variant'"));
  EXPECT_THAT(fault_of({compare_file("[compare]\nvariants = [ { label = \"A\", strategy = { name = \"allreduce\" } } ]\n")}),
              HasSubstr("on how many nodes"));
  EXPECT_THAT(fault_of({compare_file("[compare]\nnodes = 2\nvariants = [ { label = \"A\", strategy = { name = \"allredduce\" } } ]\n")}),
              HasSubstr("variant A: "));
  EXPECT_THAT(fault_of({compare_file("[compare]\nnodes = 2\nvariants = [ { label = \"A\", train = { epoch = 2 } } ]\n")}),
              HasSubstr("epoch"));
  EXPECT_THAT(fault_of({compare_file("[compare]\nnodes = 2\nvariants = [ { label = \"A\" }, { label = \"a\" } ]\n")}),
              HasSubstr("too alike"));
  EXPECT_THAT(fault_of({compare_file(), file("one.toml", std::string(kJob))}), HasSubstr("give it alone"));
}

}  // namespace
}  // namespace trireme::experiment
