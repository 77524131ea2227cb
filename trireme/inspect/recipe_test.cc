// SPDX-License-Identifier: Apache-2.0
// Tests of recipes and of the job files they make.
#include "trireme/inspect/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/config.h"
#include "trireme/data/testing/reader.h"
#include "trireme/inspect/first_job.h"
#include "trireme/train/job/job.h"

namespace trireme::inspect {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Inspection pictures(const Shape& shape, std::int64_t samples) {
  Inspection inspection{.path = "/data/pets"};
  inspection.finding = {
      .title = "pictures", .reader = "image_folder", .train = {"/data/pets"}, .form = Form::pictures, .mirrors = shape[0] == 3};
  inspection.format = {.shape = shape, .classes = 5};
  inspection.samples = samples;
  return inspection;
}

Inspection table(std::int64_t samples, std::int64_t classes) {
  Inspection inspection{.path = "/data/t.csv"};
  inspection.finding = {.title = "a table", .reader = "csv", .train = {"/data/t.csv"}, .form = Form::table};
  inspection.format = {.shape = Shape{9}, .element = data::Element::f32, .classes = classes, .targets = classes == 0 ? 1 : 0};
  inspection.samples = samples;
  inspection.target_mean = 200000;
  inspection.target_deviation = 5e4;
  return inspection;
}

Inspection curves(std::int64_t samples, std::int64_t width) {
  Inspection inspection = table(samples, 0);
  inspection.finding.reader = "fits";
  inspection.finding.form = Form::curves;
  inspection.format.shape = Shape{1, width};
  return inspection;
}

// The job as it would be trained: every setting is known, and the network fits the samples.
train::Job job_of(const Inspection& inspection) {
  const Config job = Config::parse_toml(job_text(inspection, recipe_for(inspection), "/data"), "job.toml");
  train::check_job(job);
  return train::job_from_config(train::fit_to_data(job, inspection.format));
}

TEST(Recipe, EveryFormGivesAJobThatFits) {
  for (const std::int64_t samples : {20, 300, 5000, 60000}) {
    EXPECT_NO_THROW(job_of(pictures({3, 32, 32}, samples))) << samples;
    EXPECT_NO_THROW(job_of(pictures({1, 28, 28}, samples))) << samples;
    EXPECT_NO_THROW(job_of(pictures({3, 8, 12}, samples))) << samples;
    EXPECT_NO_THROW(job_of(pictures({1, 8, 8}, samples))) << samples;
    EXPECT_NO_THROW(job_of(table(samples, 3))) << samples;
    EXPECT_NO_THROW(job_of(table(samples, 0))) << samples;
    EXPECT_NO_THROW(job_of(curves(samples, 1024))) << samples;
    EXPECT_NO_THROW(job_of(curves(samples, 10))) << samples;
    Inspection row = curves(samples, 10);
    row.format.shape = Shape{300};
    EXPECT_NO_THROW(job_of(row)) << samples;
  }
}

TEST(Recipe, SmallSetsGetManyEpochsAndSmallBatches) {
  for (const auto& make : {+[](std::int64_t n) {
                             return pictures({3, 32, 32}, n);
                           },
                           +[](std::int64_t n) { return table(n, 2); }, +[](std::int64_t n) { return curves(n, 500); }}) {
    const Recipe small = recipe_for(make(300)), large = recipe_for(make(60000));
    EXPECT_GT(small.epochs, large.epochs);
    EXPECT_LT(small.batch_size, large.batch_size);
    EXPECT_GT(small.validation + small.test_split, large.validation + large.test_split);
  }
}

TEST(Recipe, AugmentationFitsTheData) {
  EXPECT_THAT(recipe_for(pictures({3, 32, 32}, 900)).augment, AllOf(HasSubstr("flip = true"), HasSubstr("pad = 4")));
  EXPECT_THAT(recipe_for(pictures({1, 28, 28}, 900)).augment, AllOf(Not(HasSubstr("flip")), HasSubstr("pad = 2")));
  EXPECT_EQ(recipe_for(table(900, 2)).augment, "");
}

TEST(Recipe, HeldOutPartsAreStratifiedWhereThereAreClasses) {
  EXPECT_THAT(job_text(table(900, 2), recipe_for(table(900, 2)), ""), AllOf(HasSubstr("stratify = true"), HasSubstr("test_split = ")));
  EXPECT_THAT(job_text(table(900, 0), recipe_for(table(900, 0)), ""), Not(HasSubstr("stratify")));
  Inspection with_test = table(900, 2);
  with_test.test_samples = 100;
  EXPECT_THAT(job_text(with_test, recipe_for(with_test), ""), Not(HasSubstr("test_split")));
}

TEST(Recipe, FewHeldOutSamplesDontChooseAnEpoch) {
  EXPECT_FALSE(job_of(pictures({3, 32, 32}, 300)).train.keep_best);
  const train::Job large = job_of(pictures({3, 32, 32}, 30000));
  EXPECT_TRUE(large.train.keep_best);
  EXPECT_EQ(large.early_stopping.watch, "accuracy");
  EXPECT_EQ(job_of(table(30000, 0)).early_stopping.watch, "loss");
}

TEST(Recipe, ARegressionEndsInTheUnitsOfItsNumber) {
  const train::Job job = job_of(table(900, 0));
  EXPECT_EQ(job.graph.node(job.graph.output()).op->name, "scale");
  EXPECT_EQ(job.graph.loss(), "mean_squared_error");
}

TEST(Recipe, FilesAreNamedRelativeToTheJob) {
  const Inspection inspection = pictures({3, 32, 32}, 900);
  const Recipe recipe = recipe_for(inspection);
  EXPECT_THAT(job_text(inspection, recipe, "/data"), HasSubstr("train = [\"pets\"]"));
  EXPECT_THAT(job_text(inspection, recipe, "/data/pets"), HasSubstr("train = [\".\"]"));
  EXPECT_THAT(job_text(inspection, recipe, "/elsewhere"), HasSubstr("train = [\"/data/pets\"]"));
  EXPECT_THAT(job_text(inspection, recipe, ""), HasSubstr("train = [\"/data/pets\"]"));
}

TEST(FirstJob, IsTimedAndSaysSo) {
  const data::ScratchFolder folder;
  std::string rows = "a,b,class\n";
  for (int i = 0; i < 80; ++i) rows += fmt::format("{},{},{}\n", i % 13, i % 7, i % 2 == 0 ? "x" : "y");
  const auto file = folder.write("t.csv", rows);
  const FirstJob job = first_job({.path = file});
  EXPECT_THAT(job.text, AllOf(StartsWith("# t.csv: a table, 80 samples, 2 classes."), HasSubstr("# Time and memory: ")));
  EXPECT_THAT(job.report, AllOf(HasSubstr("x 40, y 40"), HasSubstr("network: "), HasSubstr("timed here"), HasSubstr("are few")));
  const FirstJob short_job = first_job({.path = file, .minutes = 1e-6});
  EXPECT_THAT(short_job.text, AllOf(HasSubstr("epochs = 3 "), HasSubstr("would learn more")));
}

}  // namespace
}  // namespace trireme::inspect
