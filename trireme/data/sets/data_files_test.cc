// SPDX-License-Identifier: Apache-2.0
// Tests of the list of a job's files.
#include "trireme/data/sets/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DataFiles files_of(const std::string& toml) { return data_files(data_request(Config::parse_toml(toml, "job.toml"))); }

std::vector<std::string> names(const DataFiles& files) {
  std::vector<std::string> out;
  for (const auto& file : files.files) out.push_back(std::to_string(file.folder) + ":" + file.name.string());
  return out;
}

TEST(DataFiles, FilesOfOneFolderStayTogetherWithTheirClassNames) {
  const ScratchFolder scratch;
  for (const char* name : {"pets-00000-of-00002", "pets-00001-of-00002", "pets.classes.txt", "other"}) scratch.write(name, "x");
  const std::string at = scratch.path().string();
  const DataFiles files =
      files_of("reader = 'tfrecord'\ntrain = ['" + at + "/pets-00000-of-00002']\ntest = ['" + at + "/pets-00001-of-00002']");
  EXPECT_THAT(files.folders, ElementsAre(scratch.path()));
  EXPECT_THAT(names(files), ElementsAre("0:pets-00000-of-00002", "0:pets.classes.txt", "0:pets-00001-of-00002"));
}

TEST(DataFiles, FoldersAreListedToTheirDepth) {
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch.path() / "train/dog");
  std::filesystem::create_directories(scratch.path() / "train/cat/young");
  scratch.write("train/dog/1.png", "x");
  scratch.write("train/cat/young/2.png", "x");
  scratch.write("train/cat/.hidden", "x");
  std::filesystem::create_directory_symlink(scratch.path(), scratch.path() / "train/loop");
  const std::string at = scratch.path().string();
  const DataFiles files = files_of("reader = 'image_folder'\ntrain = ['" + at + "/train/']\ntest = ['" + at + "/train']");
  EXPECT_THAT(files.folders, ElementsAre(scratch.path() / "train"));
  EXPECT_THAT(names(files), ElementsAre("0:cat/young/2.png", "0:dog/1.png"));
  EXPECT_EQ(files.named.size(), 2U);
}

TEST(DataFiles, PatternsAndTablesAreCarriedToo) {
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch.path() / "photos");
  scratch.write("photos/1.png", "x");
  for (const char* name : {"labels.csv", "a-1.csv", "a-2.csv"}) scratch.write(name, "x");
  const std::string at = scratch.path().string();
  EXPECT_THAT(names(files_of("reader = 'csv'\ntrain = ['" + at + "/a-*.csv']")), ElementsAre("0:a-1.csv", "0:a-2.csv"));
  const DataFiles files = files_of("reader = 'image_table'\ntrain = ['" + at + "/photos']\ntable = '" + at + "/labels.csv'");
  EXPECT_THAT(names(files), ElementsAre("0:1.png", "1:labels.csv"));
  EXPECT_EQ(files.named.back().key, "table");
  Config job = Config::parse_toml("[data]\nreader = 'image_table'", "job.toml");
  set_data_folders(job, files.named, {"/s/0", "/s/1"}, "staged");
  EXPECT_EQ(job.at("data").at("table").to_toml(), R"(["/s/1/labels.csv"])");
}

TEST(DataFiles, AMissingFileIsNamed) {
  EXPECT_THAT(thrown_error([] { files_of("reader = 'csv'\ntrain = ['/nowhere/a.csv']"); }), HasSubstr("not_found: /nowhere/a.csv"));
}

TEST(DataFiles, SyntheticSetsHaveNone) { EXPECT_THAT(files_of("name = 'synthetic_digits'").files, IsEmpty()); }

TEST(DataFiles, AJobIsRewrittenInItsOrder) {
  Config job = Config::parse_toml("[data]\nreader = 'idx'\ntrain = ['a']\nvalidation = 5", "job.toml");
  set_data_folders(
      job,
      {{.key = "train", .folder = 1, .name = "x'y"}, {.key = "train", .folder = 0, .name = ""}, {.key = "test", .folder = 0, .name = "t"}},
      {"/s/0", "/s/1"}, "staged");
  EXPECT_EQ(job.at("data").at("train").to_toml(), R"(["/s/1/x'y", "/s/0"])");
  EXPECT_EQ(job.at("data").at("test").to_toml(), R"(["/s/0/t"])");
  EXPECT_EQ(job.at("data").at("validation").integer(), 5);
}

}  // namespace
}  // namespace trireme::data
