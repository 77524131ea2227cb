// SPDX-License-Identifier: Apache-2.0
// A test part that lacks classes keeps the numbers of the training part.
#include "trireme/data/sets/matching_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/data/source/memory_source.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class MatchingParts : public testing::Test {
 protected:
  DataSets open(std::string_view reader, std::string_view train, std::string_view test) const {
    const std::string job =
        fmt::format("reader = '{}'\ntrain = ['{}/{}']\ntest = ['{}/{}']", reader, root_.string(), train, root_.string(), test);
    return open_data(data_request(Config::parse_toml(job, "job.toml")), testing::TempDir());
  }
  void picture(const std::string& name) const {
    fs::create_directories((root_ / name).parent_path());
    scratch_.write(name, encode_png({1, 1, 1, {7}}));
  }

  ScratchFolder scratch_;
  fs::path root_ = scratch_.path();
};

TEST_F(MatchingParts, AFolderMayBeMissingOrEmptyInTheTest) {
  for (const char* name : {"train/ant/1.png", "train/bee/1.png", "train/cat/1.png", "test/cat/1.png", "test/bee/1.png"}) picture(name);
  fs::create_directories(root_ / "test/ant");
  const DataSets sets = open("image_folder", "train", "test");
  EXPECT_THAT(all_labels(*sets.test), ElementsAre(1, 2));
  fs::remove_all(root_ / "test/ant");
  fs::remove_all(root_ / "test/bee");
  const DataSets fewer = open("image_folder", "train", "test");
  EXPECT_THAT(all_labels(*fewer.test), ElementsAre(2));
  EXPECT_THAT(fewer.test->format().class_names, ElementsAre("ant", "bee", "cat"));
  EXPECT_EQ(fewer.test->format().classes, 3);
}

TEST_F(MatchingParts, AClassThatOnlyTheTestHasIsNamed) {
  for (const char* name : {"train/ant/1.png", "train/bee/1.png", "test/ant/1.png", "test/dog/1.png"}) picture(name);
  EXPECT_THAT(thrown_error([&] { open("image_folder", "train", "test"); }),
              AllOf(HasSubstr("the test part has a class that the training part does not have: dog"), HasSubstr("ant, bee")));
}

// "1" and "10" are names beside "x": a test part without "x" must not take them for numbers.
TEST_F(MatchingParts, NamesThatLookLikeNumbersStayNames) {
  scratch_.write("train.csv", "a,label\n1,x\n2,10\n3,1\n");
  scratch_.write("test.csv", "a,label\n1,10\n2,1\n");
  const DataSets sets = open("csv", "train.csv", "test.csv");
  EXPECT_THAT(all_labels(*sets.train), ElementsAre(2, 1, 0));
  EXPECT_THAT(all_labels(*sets.test), ElementsAre(1, 0));
}

TEST_F(MatchingParts, PatternsNameTheFilesOfAPart) {
  scratch_.write("train-1.csv", "a,label\n1,x\n");
  scratch_.write("train-2.csv", "a,label\n2,y\n");
  scratch_.write("test-1.csv", "a,label\n2,y\n");
  const DataSets sets = open("csv", "train-*.csv", "test-?.csv");
  EXPECT_EQ(sets.train->size(), 2);
  EXPECT_THAT(all_labels(*sets.test), ElementsAre(1));
  EXPECT_THAT(thrown_error([&] { open("csv", "none-*.csv", "test-?.csv"); }), HasSubstr("none-*.csv: no file or folder matches"));
}

TEST_F(MatchingParts, ClassesAndNumbersDoNotMatch) {
  const SampleFormat classes{.shape = {1}, .element = Element::u8, .classes = 2},
      numbers{.shape = {1}, .element = Element::u8, .targets = 1};
  const MemorySource train({.format = classes, .values = {std::byte{1}}, .labels = {0}});
  EXPECT_THAT(thrown_error([&] {
                matched_to(train,
                           std::make_shared<MemorySource>(MemorySamples{.format = numbers, .values = {std::byte{1}}, .targets = {2}}));
              }),
              HasSubstr("training samples have classes, test samples 1 numbers to predict"));
}

}  // namespace
}  // namespace trireme::data
