// SPDX-License-Identifier: Apache-2.0
// The [data] table: parts, splits and what is reported of their mistakes.
#include "trireme/data/sets/data_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::data {
namespace {

using testing::HasSubstr;

DataSets open(std::string_view text) { return open_data(data_request(Config::parse_toml(text, "job.toml")), testing::TempDir()); }

std::string complaint(std::string_view text) {
  return thrown_error([&] { open(text); });
}

constexpr std::string_view kDigits = "name = 'synthetic_digits'\nsamples = 100\ntest_samples = 30\n";

TEST(DataSets, HaveTheirParts) {
  const DataSets sets = open(kDigits);
  EXPECT_EQ(sets.train->size(), 100);
  EXPECT_EQ(sets.validation, nullptr);
  EXPECT_EQ(sets.test->size(), 30);
}

TEST(DataSets, HoldOutByNumberOrShare) {
  EXPECT_EQ(open(std::string(kDigits) + "validation = 10").validation->size(), 10);
  const DataSets sets = open("name = 'synthetic_digits'\nsamples = 100\ntest_samples = 0\nvalidation = 0.2\ntest_split = 0.1");
  EXPECT_EQ(sets.train->size(), 70);
  EXPECT_EQ(sets.validation->size(), 20);
  EXPECT_EQ(sets.test->size(), 10);
  EXPECT_EQ(open(std::string(kDigits) + "limit = 7").train->size(), 7);
}

TEST(DataSets, ASplitHasEverySampleOnceAndKeepsToItsSeed) {
  const Split split = split_samples(50, {.validation = 10, .test = 5}, 3);
  std::set<std::int64_t> seen;
  for (const auto* part : {&split.train, &split.validation, &split.test}) {
    EXPECT_TRUE(std::ranges::is_sorted(*part));
    seen.insert(part->begin(), part->end());
  }
  EXPECT_EQ(seen.size(), 50U);
  EXPECT_EQ(split.validation, split_samples(50, {.validation = 10, .test = 5}, 3).validation);
  EXPECT_NE(split.validation, split_samples(50, {.validation = 10, .test = 5}, 4).validation);
}

TEST(DataSets, ReportMistakesWithTheirPlace) {
  EXPECT_THAT(complaint("samples = 3"), HasSubstr("needs name"));
  EXPECT_THAT(complaint("name = 'mnits'"), HasSubstr("there is no data set 'mnits'"));
  EXPECT_THAT(complaint("reader = 'synthetic_digit'"), HasSubstr("did you mean 'synthetic_digits'?"));
  EXPECT_THAT(complaint(std::string(kDigits) + "sampels = 3"), HasSubstr("job.toml:4: [data] (synthetic_digits) has no option 'sampels'"));
  EXPECT_THAT(complaint("reader = 'image_folder'\nfolder = 'pics'"),
              HasSubstr("job.toml:2: [data] (image_folder) has no option 'folder'; did you mean 'path'"));
  EXPECT_THAT(complaint("reader = 'csv'"), HasSubstr("reader 'csv' needs path"));
  EXPECT_THAT(complaint(std::string(kDigits) + "validation = 100"), HasSubstr("nothing is left to train on"));
  EXPECT_THAT(complaint(std::string(kDigits) + "test_split = 10"), HasSubstr("leave one out"));
  EXPECT_THAT(complaint(std::string(kDigits) + "[pipeline]\ncache = 'ram'"), HasSubstr("none, memory, disk"));
}

}  // namespace
}  // namespace trireme::data
