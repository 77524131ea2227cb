// SPDX-License-Identifier: Apache-2.0
// Tests of splits by class.
#include "trireme/data/sets/stratified_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// 60 samples of class 0, 30 of class 1, 10 of class 2, mixed.
std::vector<std::int32_t> uneven_labels() {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 100; ++i) labels.push_back(i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2);
  return labels;
}

std::vector<int> counts(const std::vector<std::int64_t>& part, const std::vector<std::int32_t>& labels) {
  std::vector<int> by_class(3);
  for (const std::int64_t index : part) ++by_class[static_cast<std::size_t>(labels[static_cast<std::size_t>(index)])];
  return by_class;
}

TEST(StratifiedSplit, EachPartHasTheShareOfEachClass) {
  const auto labels = uneven_labels();
  for (const std::uint64_t seed : {1U, 2U, 77U}) {
    const Split split = stratified_split(labels, {.validation = 20, .test = 10}, seed);
    EXPECT_THAT(counts(split.validation, labels), ElementsAre(12, 6, 2));
    EXPECT_THAT(counts(split.test, labels), ElementsAre(6, 3, 1));
    EXPECT_THAT(counts(split.train, labels), ElementsAre(42, 21, 7));
  }
}

TEST(StratifiedSplit, NothingIsLostOrTakenTwiceAndTheSeedDecides) {
  const auto labels = uneven_labels();
  const Split split = stratified_split(labels, {.validation = 13, .test = 7}, 5);
  std::set<std::int64_t> all;
  for (const auto* part : {&split.train, &split.validation, &split.test}) {
    EXPECT_TRUE(std::ranges::is_sorted(*part));
    all.insert(part->begin(), part->end());
  }
  EXPECT_EQ(all.size(), labels.size());
  EXPECT_EQ(split.validation.size(), 13U);
  EXPECT_EQ(split.test.size(), 7U);
  EXPECT_EQ(split.validation, stratified_split(labels, {.validation = 13, .test = 7}, 5).validation);
  EXPECT_NE(split.validation, stratified_split(labels, {.validation = 13, .test = 7}, 6).validation);
}

TEST(StratifiedSplit, AClassOfOneSampleIsTrained) {
  const std::vector<std::int32_t> labels{0, 1, 0, 0, 2, 0, 0, 0};
  const Split split = stratified_split(labels, {.validation = 2, .test = 2}, 1);
  EXPECT_THAT(counts(split.train, labels), ElementsAre(2, 1, 1));
  const std::vector<std::int32_t> singles{0, 1, 2};
  EXPECT_TRUE(stratified_split(singles, {.validation = 1, .test = 1}, 1).validation.empty());
}

TEST(StratifiedSplit, IsAnOptionOfTheJob) {
  const ScratchFolder folder;
  std::string table = "x,kind\n";
  for (int i = 0; i < 40; ++i) table += std::to_string(i) + (i % 10 == 0 ? ",rare\n" : ",common\n");
  const std::string path = folder.write("table.csv", table).string();
  const auto open = [&](const std::string& more) {
    return open_data(data_request(Config::parse_toml("reader = 'csv'\ntrain = ['" + path + "']\nstratify = true\n" + more, "job.toml")),
                     folder.path());
  };
  const DataSets sets = open("validation = 10\ntest_split = 0.25");
  for (const auto& part : {sets.validation, sets.test}) {
    ASSERT_NE(part, nullptr);
    std::vector<std::int32_t> labels = all_labels(*part);
    EXPECT_EQ(labels.size(), 10U);
    EXPECT_EQ(std::ranges::count(labels, 1), 1);  // "rare"
  }
}

// As a folder for each class is: sorted.
TEST(StratifiedSplit, ALimitTakesOfEachClassItsShare) {
  const ScratchFolder folder;
  std::string table = "x,kind\n";
  for (int i = 0; i < 40; ++i) table += std::to_string(i) + (i < 10 ? ",rare\n" : ",common\n");
  const std::string path = folder.write("table.csv", table).string();
  const auto open = [&](const std::string& more) {
    return open_data(data_request(Config::parse_toml("reader = 'csv'\ntrain = ['" + path + "']\n" + more, "job.toml")), folder.path());
  };
  const DataSets sets = open("stratify = true\nvalidation = 0.2\nlimit = 8");
  EXPECT_THAT(all_labels(*sets.train), UnorderedElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
  EXPECT_EQ(sets.validation->size(), 8);
  EXPECT_THAT(sets.warnings, testing::IsEmpty());
  EXPECT_EQ(open("stratify = true\nlimit = 1").train->size(), 1);
  EXPECT_THAT(open("limit = 8").warnings,
              ElementsAre(HasSubstr("limit = 8 leaves samples of 1 of 2 classes to train on; with data.stratify")));
  EXPECT_THAT(open("limit = 30").warnings, testing::IsEmpty());
}

TEST(StratifiedSplit, NeedsClasses) {
  const ScratchFolder folder;
  const std::string path = folder.write("table.csv", "x,y\n1,2\n3,4\n5,6\n7,8\n").string();
  EXPECT_THAT(thrown_error([&] {
                open_data(data_request(Config::parse_toml(
                              "reader = 'csv'\ntrain = ['" + path + "']\ntarget = ['y']\nstratify = true\nvalidation = 1", "job.toml")),
                          folder.path());
              }),
              HasSubstr("stratify needs classes"));
}

}  // namespace
}  // namespace trireme::data
