// SPDX-License-Identifier: Apache-2.0
// Tests of patterns of file names.
#include "trireme/data/formats/named_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class NamedFiles : public testing::Test {
 protected:
  NamedFiles() {
    fs::create_directories(root_ / "a/deep");
    fs::create_directories(root_ / "b");
    for (const char* name : {"a/1.csv", "a/2.csv", "a/.3.csv", "a/x.txt", "a/deep/4.csv", "b/1.csv", "b/[1].csv"})
      scratch_.write(name, "x");
  }
  std::vector<std::string> match(const std::string& pattern) const {
    std::vector<std::string> names;
    for (const fs::path& path : named_files({root_ / pattern})) names.push_back(path.lexically_relative(root_).string());
    return names;
  }

  ScratchFolder scratch_;
  fs::path root_ = scratch_.path();
};

TEST_F(NamedFiles, PatternsAreReplacedInOrder) {
  EXPECT_THAT(match("a/*.csv"), ElementsAre("a/1.csv", "a/2.csv"));
  EXPECT_THAT(match("*/1.csv"), ElementsAre("a/1.csv", "b/1.csv"));
  EXPECT_THAT(match("a/[2-9].?sv"), ElementsAre("a/2.csv"));
  EXPECT_THAT(match("*"), ElementsAre("a", "b"));
}

TEST_F(NamedFiles, TwoStarsAreAnyFolders) {
  EXPECT_THAT(match("**/*.csv"), ElementsAre("a/1.csv", "a/2.csv", "a/deep/4.csv", "b/1.csv", "b/[1].csv"));
  EXPECT_THAT(match("a/**/4.csv"), ElementsAre("a/deep/4.csv"));
}

TEST_F(NamedFiles, WhatExistsIsNoPattern) { EXPECT_THAT(match("b/[1].csv"), ElementsAre("b/[1].csv")); }

TEST_F(NamedFiles, PlainPathsAreHandedOn) { EXPECT_THAT(match("b/none.csv"), ElementsAre("b/none.csv")); }

TEST_F(NamedFiles, APatternWithoutMatchIsNamed) {
  EXPECT_THAT(thrown_error([&] { match("a/*.tfrecord"); }), testing::AllOf(HasSubstr("not_found: "), HasSubstr("a/*.tfrecord: no file")));
  EXPECT_THAT(thrown_error([&] { match("a/1.csv/*"); }), HasSubstr("matches this pattern"));
}

}  // namespace
}  // namespace trireme::data
