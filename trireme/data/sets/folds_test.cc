// SPDX-License-Identifier: Apache-2.0
// Folds: every sample is held out once, in the mixture of all, and which ones depends on seed, number and labels only.
#include "trireme/data/sets/folds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/sets/data_sets.h"

namespace trireme::data {
namespace {

using testing::HasSubstr;

DataSets open(const std::string& more) {
  return open_data(data_request(Config::parse_toml("name = 'synthetic_digits'\nsamples = 103\ntest_samples = 30\n" + more, "job.toml")),
                   testing::TempDir());
}

// Of a sample of these data, by which it is known again.
std::vector<std::byte> bytes_of(const Source& source, std::int64_t index) {
  std::vector<std::byte> bytes(source.format().sample_bytes());
  source.read(index, bytes);
  return bytes;
}

TEST(Folds, AreOfTheSameSizeInAllAndInEachClass) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 17; ++i) labels.push_back(0);
  for (int i = 0; i < 41; ++i) labels.push_back(1);
  for (int i = 0; i < 5; ++i) labels.push_back(2);
  const std::vector<std::int64_t> folds = folds_of(labels, 4, 1);
  std::array<std::array<int, 4>, 3> counts{};
  std::array<int, 4> sizes{};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++counts[static_cast<std::size_t>(labels[i])][static_cast<std::size_t>(folds[i])];
    ++sizes[static_cast<std::size_t>(folds[i])];
  }
  for (const auto& of_class : counts) EXPECT_LE(*std::ranges::max_element(of_class) - *std::ranges::min_element(of_class), 1);
  EXPECT_LE(*std::ranges::max_element(sizes) - *std::ranges::min_element(sizes), 1);
  EXPECT_EQ(folds_of(labels, 4, 1), folds);
  EXPECT_NE(folds_of(labels, 4, 2), folds);
}

TEST(Folds, HoldEverySampleOutOnce) {
  std::set<std::vector<std::byte>> held_out;
  for (const char* fold : {"1", "2", "3"}) {
    const DataSets sets = open(std::string("folds = 3\nfold = ") + fold);
    EXPECT_EQ(sets.train->size() + sets.test->size(), 103);
    EXPECT_EQ(sets.validation, nullptr);
    for (std::int64_t i = 0; i < sets.test->size(); ++i) EXPECT_TRUE(held_out.insert(bytes_of(*sets.test, i)).second);
  }
  EXPECT_EQ(held_out.size(), 103U);
}

TEST(Folds, LeaveValidationToTheRestAndTheTestSplitOut) {
  const DataSets with_validation = open("folds = 3\nfold = 2\nvalidation = 0.25");
  EXPECT_EQ(with_validation.test->size(), 34);
  EXPECT_EQ(with_validation.validation->size(), 17);
  EXPECT_EQ(with_validation.train->size(), 52);
  const auto request = data_request(
      Config::parse_toml("name = 'synthetic_digits'\nsamples = 100\ntest_samples = 0\ntest_split = 0.1\nfolds = 3\nfold = 1", "job.toml"));
  const DataSets split = open_data(request, testing::TempDir());
  EXPECT_EQ(split.train->size() + split.test->size(), 90);
}

TEST(Folds, MistakesAreNamed) {
  const auto complaint = [](const std::string& more) { return thrown_error([&] { open(more); }); };
  EXPECT_THAT(complaint("folds = 3"), HasSubstr("fold = 1 to 3"));
  EXPECT_THAT(complaint("folds = 3\nfold = 4"), HasSubstr("fold = 1 to 3"));
  EXPECT_THAT(complaint("folds = 1\nfold = 1"), HasSubstr("at least 2"));
  EXPECT_THAT(complaint("folds = 104\nfold = 1"), HasSubstr("103 training samples are too few for 104 folds"));
  EXPECT_THAT(complaint("folds = 3\nfold = 1\nvalidation = 69"), HasSubstr("validation"));
  EXPECT_THAT(open("folds = 50\nfold = 1").warnings, testing::Contains(HasSubstr("for 50 folds")));
}

}  // namespace
}  // namespace trireme::data
