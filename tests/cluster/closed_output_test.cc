// SPDX-License-Identifier: Apache-2.0
// Output that nothing reads, or that goes to a full device: a training goes on to its end, other commands end.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using testing::HasSubstr;

class Unread : public TrainingFolder {
 protected:
  Unread() { write_job(small_job({.samples = 1000, .epochs = 3})); }

  // Its exit code, or minus the signal that ended it. `words` are for the shell.
  int run(const std::string& words) const {
    const std::string line = fmt::format("exec {} {} 2> {}", TRIREME_BINARY, words, (folder_ / "err").string());
    const int status = std::system(line.c_str());
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }
  // With a standard output whose reader has gone, without a race.
  int run_unread(const std::string& words) const {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    const int code = run(fmt::format("{} >&{}", words, ends[1]));
    ::close(ends[1]);
    return code;
  }
  std::string train(int nodes) const {
    return fmt::format("train {} --runs {} -n {}", (folder_ / "job.toml").string(), (folder_ / "runs").string(), nodes);
  }
  std::string err() const { return read_file(folder_ / "err"); }
  // Everything is there: all steps, the end and its checkpoint.
  void expect_whole_training() const {
    EXPECT_EQ(steps("runs"), 60);
    ASSERT_EQ(records("runs", "end").size(), 1U);
    EXPECT_TRUE(std::filesystem::exists(latest("runs") / "checkpoints" / "step-00000060" / "model.safetensors"));
  }
};

TEST_F(Unread, ATrainingInOneProcessGoesOn) {
  EXPECT_EQ(run_unread(train(1)), 0) << err();
  EXPECT_THAT(err(), HasSubstr("nothing reads the output any more"));
  expect_whole_training();
}

TEST_F(Unread, ATrainingOfTwoNodesGoesOn) {
  EXPECT_EQ(run_unread(train(2) + " --strategy allreduce"), 0) << err();
  EXPECT_THAT(err(), HasSubstr("nothing reads the output any more"));
  expect_whole_training();
}

TEST_F(Unread, ATrainingWhoseErrorsAreUnreadTooGoesOn) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(std::system(fmt::format("exec {} {} >&{} 2>&{}", TRIREME_BINARY, train(2), ends[1], ends[1]).c_str()), 0);
  ::close(ends[1]);
  expect_whole_training();
}

TEST_F(Unread, WhatOnlyPrintsEndsWithoutAWord) {
  ASSERT_EQ(run(train(1) + " > /dev/null"), 0) << err();
  for (const std::string& words : {std::string("list ops"), "status " + latest("runs").string(), "report " + latest("runs").string(),
                                   std::string("--help"), "train " + (folder_ / "job.toml").string() + " --help"}) {
    const int code = run_unread(words);
    EXPECT_TRUE(code == -SIGPIPE || code == 0) << words << " ends with " << code;
    EXPECT_EQ(err(), code == 0 ? err() : "") << words;
  }
}

TEST_F(Unread, AFullDeviceIsAnError) {
  EXPECT_EQ(run("list ops > /dev/full"), 1);
  EXPECT_THAT(err(), HasSubstr("standard output can't be written: No space left on device"));
  EXPECT_EQ(run(train(2) + " > /dev/full"), 1);
  EXPECT_THAT(err(), HasSubstr("standard output can't be written: No space left on device"));
  expect_whole_training();
}

}  // namespace
}  // namespace trireme::tests
