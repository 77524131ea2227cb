// SPDX-License-Identifier: Apache-2.0
// Tests of init, and of train with data in the place of a job file, as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/cli/testing/program.h"
#include "trireme/data/images/image_codec.h"

namespace trireme::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct InitCommands : testing::Test {
  InitCommands() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~InitCommands() override { std::filesystem::remove_all(folder); }
  InitCommands(const InitCommands&) = delete;
  InitCommands& operator=(const InitCommands&) = delete;

  std::string path(const std::string& name) const { return (folder / name).string(); }
  // Two classes that differ in their colour.
  void write_pictures() const {
    for (int i = 0; i < 12; ++i)
      for (const bool red : {true, false}) {
        data::Image image{8, 8, 3, {}};
        for (int p = 0; p < 64; ++p)
          for (const bool is_red : {true, false, false})
            image.pixels.push_back(static_cast<std::uint8_t>((is_red == red ? 180 : 40) + (i * p) % 50));
        write_file_atomically(path(std::string("pets/") + (red ? "cat/" : "dog/") + std::to_string(i) + ".png"), data::encode_png(image));
      }
  }
  std::string run_folder() const { return std::filesystem::canonical(path("runs/latest")).string(); }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("trireme_init_commands_" + std::to_string(::getpid()));
};

TEST_F(InitCommands, WritesAJobThatTrains) {
  write_pictures();
  const Result first = run({"init", path("pets"), "-o", path("job.toml")});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("24 samples, 2 classes: cat 12, dog 12"), HasSubstr("trireme train " + path("job.toml"))));
  const std::string job = read_file(path("job.toml"));
  EXPECT_THAT(job, AllOf(HasSubstr("train = [\"pets\"]"), HasSubstr("stratify = true")));

  const Result again = run({"init", path("pets"), "-o", path("job.toml")});
  EXPECT_NE(again.code, 0);
  EXPECT_THAT(again.err, AllOf(HasSubstr("is there already"), HasSubstr("--force")));
  EXPECT_EQ(read_file(path("job.toml")), job);
  EXPECT_EQ(run({"init", path("pets"), "-o", path("job.toml"), "--force"}).code, 0);

  const Result trained = run({"train", path("job.toml"), "--runs", path("runs"), "--set", "train.epochs=1"});
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST_F(InitCommands, TrainTakesDataAndKeepsTheJob) {
  write_pictures();
  const Result trained = run({"train", path("pets"), "--runs", path("runs"), "--set", "train.epochs=2"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr("cat 12, dog 12"), HasSubstr("network: ")));
  EXPECT_THAT(run_folder(), HasSubstr("/pets-"));
  EXPECT_THAT(read_file(run_folder() + "/job.toml"), HasSubstr("train = [\"" + path("pets") + "\"]"));
  EXPECT_THAT(read_file(run_folder() + "/config.toml"), HasSubstr("epochs = 2 "));
  EXPECT_EQ(run({"train", "--resume", path("runs/latest"), "--set", "train.epochs=3"}).code, 0);
  // The job that was kept is a job file like any other.
  EXPECT_EQ(run({"train", run_folder() + "/job.toml", "--runs", path("runs"), "--set", "train.epochs=1"}).code, 0);
}

TEST_F(InitCommands, PrintsWhereThatIsAskedFor) {
  write_pictures();
  const Result printed = run({"init", path("pets"), "-o", "-"});
  EXPECT_THAT(printed.out, AllOf(HasSubstr("[model]"), Not(HasSubstr("\nnetwork: "))));
  EXPECT_THAT(printed.err, HasSubstr("\nnetwork: "));
  const Result config = run({"train", path("pets"), "--print-config"});
  EXPECT_THAT(config.out, AllOf(HasSubstr("# job.toml:"), Not(HasSubstr("\nnetwork: "))));
}

TEST_F(InitCommands, SayWhatIsWrong) {
  EXPECT_THAT(run({"init", path("nowhere")}).err, HasSubstr("there is no such file or folder"));
  EXPECT_THAT(run({"train", path("nowhere")}).err, HasSubstr(path("nowhere") + ": there is no such file or folder; name a job file, or"));
  EXPECT_EQ(run({"train", path("nowhere")}).code, 2);
  std::filesystem::create_directories(path("empty"));
  EXPECT_THAT(run({"init", path("empty"), "-o", path("job.toml")}).err, HasSubstr("the folder is empty"));
  EXPECT_THAT(run({"train", path("empty")}).err, HasSubstr("the folder is empty"));
  EXPECT_FALSE(std::filesystem::exists(path("job.toml")));
  EXPECT_THAT(run({"init", path("empty"), "-o", path("empty")}).err, HasSubstr("this is a folder"));
  write_file_atomically(path("job.toml"), "[data]\n");
  EXPECT_THAT(run({"train", path("job.toml"), "--label", "x"}).err, HasSubstr("data.label"));
}

}  // namespace
}  // namespace trireme::cli
