// SPDX-License-Identifier: Apache-2.0
// Tests of fetch and convert as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/cli/testing/program.h"

namespace trireme::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct DataCommands : testing::Test {
  DataCommands() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~DataCommands() override { std::filesystem::remove_all(folder); }
  DataCommands(const DataCommands&) = delete;
  DataCommands& operator=(const DataCommands&) = delete;

  std::string path(const std::string& name) const { return (folder / name).string(); }
  // IDX files of `count` images of 5 x 4.
  void write_idx(const std::string& images, const std::string& labels, int count) const {
    std::string pixels("\0\0\x08\x03\0\0\0\0\0\0\0\x05\0\0\0\x04", 16);
    std::string classes("\0\0\x08\x01\0\0\0\0", 8);
    pixels[7] = classes[7] = static_cast<char>(count);
    for (int i = 0; i < count * 20; ++i) pixels += static_cast<char>(i * 37 % 251);
    for (int i = 0; i < count; ++i) classes += static_cast<char>(i * 3 % 10);
    write_file_atomically(path(images), pixels);
    write_file_atomically(path(labels), classes);
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("trireme_data_commands_" + std::to_string(::getpid()));
};

TEST_F(DataCommands, FetchListsTheSets) {
  const Result table = run({"fetch", "--directory", path("data")});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.out, HasSubstr("cifar10        no    175.8 MiB  small photographs"));
  const Json document = parse_json(run({"fetch", "--directory", path("data"), "--json"}).out);
  EXPECT_EQ(document["sets"].size(), 4U);
  EXPECT_EQ(document["sets"][0]["name"], "cifar10");
  EXPECT_EQ(document["sets"][0]["here"], false);
  EXPECT_EQ(document["sets"][0]["class_names"][6], "frog");
}

TEST_F(DataCommands, FetchSaysWhatIsWrong) {
  const Result slip = run({"fetch", "mnistt", "--directory", path("data")});
  EXPECT_EQ(slip.code, 2);
  EXPECT_THAT(slip.err, HasSubstr("there is no set 'mnistt'; did you mean 'mnist'?"));
  EXPECT_EQ(run({"fetch", "--force"}).code, 2);
  write_file_atomically(path("mine/t10k-labels-idx1-ubyte"), "not labels");
  const Result wrong = run({"fetch", "mnist", "--directory", path("data"), "--from", path("mine")});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("t10k-labels-idx1-ubyte has 10 bytes, not 10008"));
  EXPECT_THAT(wrong.err, HasSubstr("copy them, plain or as .gz, into " + path("data/mnist")));
}

TEST_F(DataCommands, ConvertThereAndBackGivesTheSameBytes) {
  write_idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte", 23);
  write_idx("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", 9);
  const Result there = run({"convert", "--reader", "idx", "--files", path("train-images-idx3-ubyte"), path("train-labels-idx1-ubyte"),
                            "--test-files", path("t10k-images-idx3-ubyte"), path("t10k-labels-idx1-ubyte"), "--to", "tfrecord", "--shards",
                            "4", "--compression", "gzip", "--encoding", "png", "--out", path("records/")});
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_THAT(there.out, HasSubstr("train       23  1x5x4      4"));
  std::vector<std::string> back{"convert", "--reader", "tfrecord", "--to", "idx", "--out", path("back"), "--files"};
  for (int i = 0; i < 4; ++i) back.push_back(path("records/train-0000" + std::to_string(i) + "-of-00004"));
  back.emplace_back("--test-files");
  for (int i = 0; i < 4; ++i) back.push_back(path("records/test-0000" + std::to_string(i) + "-of-00004"));
  const Result again = run(back);
  ASSERT_EQ(again.code, 0) << again.err;
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    EXPECT_EQ(read_file(path(name)), read_file(path(std::string("back/") + name))) << name;
}

TEST_F(DataCommands, PathIsAnotherNameForTrain) {
  write_idx("images", "labels", 6);
  write_file_atomically(path("job.toml"), "[data]\nreader = 'idx'\npath = ['images', 'labels']\ntest_split = 2\n");
  EXPECT_THAT(run({"data", path("job.toml")}).out, HasSubstr("train        4"));
  EXPECT_THAT(run({"data", path("job.toml"), "--set", "data.path=x"}).err, HasSubstr("found 1 files")) << "it replaces the job's";
  write_file_atomically(path("job.toml"), "[data]\nreader = 'idx'\npath = 'x'\ntrain = 'y'\n");
  EXPECT_THAT(run({"data", path("job.toml")}).err, HasSubstr("job.toml:3: [data] has both path and train"));
  write_file_atomically(path("job.toml"), "[data]\nreader = 'idx'\nfolder = 'pics'\n");
  const Result other = run({"data", path("job.toml")});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("job.toml:3: [data] (idx) has no option 'folder'; did you mean 'path'"));
}

TEST_F(DataCommands, ConvertLeavesNothingWhenItFails) {
  write_idx("images", "labels", 3);
  const std::vector<std::string> cifar{"convert",      "--reader", "idx",   "--files", path("images"),
                                       path("labels"), "--to",     "cifar", "--out",   path("out")};
  const Result wrong = run(cifar);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("samples 1x5x4 of bytes cannot be written as CIFAR batches"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, testing::UnorderedElementsAre("images", "labels"));
}

TEST_F(DataCommands, ConvertSaysWhatIsWrong) {
  EXPECT_THAT(run({"convert", "--to", "idx", "--out", path("x")}).err, HasSubstr("say what to convert"));
  EXPECT_THAT(run({"convert", "foo", "--to", "idx", "--out", path("x")}).err, HasSubstr("there is no public set 'foo'"));
  EXPECT_THAT(run({"convert", "mnist", "--to", "idxx", "--out", path("x")}).err, HasSubstr("did you mean 'idx'?"));
  EXPECT_THAT(run({"convert", "--reader", "idx", "--to", "idx", "--out", path("x")}).err, HasSubstr("the reader idx needs files"));
  write_idx("images", "labels", 3);
  const Result full =
      run({"convert", "--reader", "idx", "--files", path("images"), path("labels"), "--to", "idx", "--out", folder.string()});
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, HasSubstr("is there and not empty"));
  EXPECT_THAT(
      run({"convert", "--reader", "idx", "--files", path("images"), path("labels"), "--set", "clases=3", "--to", "idx", "--out", path("x")})
          .err,
      HasSubstr("did you mean 'classes'"));
}

TEST_F(DataCommands, ConvertMakesSyntheticSets) {
  const Result result = run({"convert", "--reader", "synthetic_digits", "--set", "samples=20", "--set", "test_samples=10", "--to",
                             "image_folder", "--out", path("digits")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(std::filesystem::exists(path("digits/train/0")));
  EXPECT_THAT(result.out, HasSubstr("test        10  1x28x28     10"));
}

}  // namespace
}  // namespace trireme::cli
