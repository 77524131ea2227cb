// SPDX-License-Identifier: Apache-2.0
// The train command as a process: killed at random moments and resumed it ends with the same bits as an undisturbed run.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "trireme/base/files.h"
#include "trireme/observe/journal_reader.h"

namespace trireme {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kJob = R"(
[model]
name = "mnist_cnn"
[data]
name = "synthetic_digits"
samples = 1500
test_samples = 200
validation = 100
[data.augment]
pad = 2
[train]
epochs = 3
batch_size = 32
checkpoint_seconds = 0.05
[train.optimizer]
name = "adadelta"
)";

struct Finished {
  int code = -1;   // of exit, or -1
  int signal = 0;  // that ended it
};

class Training {
 public:
  Training(const std::filesystem::path& folder, const std::vector<std::string>& arguments) : pid_(::fork()) {
    if (pid_ == 0) start(folder, arguments);
  }
  void kill(int signal) const { ::kill(pid_, signal); }
  Finished wait() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? Finished{.code = WEXITSTATUS(status)} : Finished{.signal = WTERMSIG(status)};
  }

 private:
  [[noreturn]] static void start(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    const int log = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    std::vector<char*> argv{const_cast<char*>("trireme"), const_cast<char*>("train")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(TRIREME_BINARY, argv.data());
    ::_exit(127);
  }

  pid_t pid_;
};

class Resume : public testing::Test {
 protected:
  Resume() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("trireme_resume_{}", ::getpid())) {
    std::filesystem::remove_all(folder_);
    write_file_atomically(folder_ / "job.toml", kJob);
  }
  ~Resume() override { std::filesystem::remove_all(folder_); }

  Training begin(const std::string& runs) const {
    return {folder_, {(folder_ / "job.toml").string(), "--runs", (folder_ / runs).string()}};
  }
  Training resume(const std::string& runs) const { return {folder_, {"--resume", (folder_ / runs / "latest").string()}}; }

  // Waits until the run has as many steps in its journal or checkpoints on disk; false if it takes longer than a minute.
  bool wait_for_checkpoint(const std::string& runs) const {
    for (int i = 0; i < 6000; ++i) {
      const auto checkpoints = folder_ / runs / "latest" / "checkpoints";
      if (std::filesystem::exists(checkpoints) && !std::filesystem::is_empty(checkpoints)) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  std::string final_model(const std::string& runs) const {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / runs / "latest" / "checkpoints"))
      newest = std::max(newest, entry.path());
    return read_file(newest / "model.safetensors") + read_file(newest / "optimizer.safetensors") + read_file(newest / "best.safetensors");
  }
  std::string log() const { return read_file(folder_ / "log"); }

  std::filesystem::path folder_;
};

TEST_F(Resume, KilledAtRandomStepsItEndsWithTheSameBits) {
  ASSERT_EQ(begin("undisturbed").wait().code, 0) << log();

  std::random_device random;
  const unsigned seed = random();
  std::mt19937 dice(seed);
  const Training first = begin("killed");
  ASSERT_TRUE(wait_for_checkpoint("killed")) << log();
  int kills = 0;
  std::this_thread::sleep_for(milliseconds(dice() % 300));
  first.kill(SIGKILL);
  Finished last = first.wait();
  for (; last.signal == SIGKILL && kills < 50; ++kills) {
    const Training next = resume("killed");
    if (kills < 3) {
      std::this_thread::sleep_for(milliseconds(200 + dice() % 600));
      next.kill(SIGKILL);
    }
    last = next.wait();
  }
  ASSERT_EQ(last.code, 0) << log();
  ASSERT_GE(kills, 1) << "the training was over before it could be killed";
  EXPECT_EQ(final_model("undisturbed") == final_model("killed"), true) << "seed " << seed << "\n" << log();
}

TEST_F(Resume, AnInterruptWritesACheckpointAndSaysHowToGoOn) {
  const Training training = begin("runs");
  ASSERT_TRUE(wait_for_checkpoint("runs")) << log();
  training.kill(SIGINT);
  EXPECT_EQ(training.wait().code, 130) << log();
  EXPECT_THAT(log(), testing::HasSubstr("trireme train --resume"));

  const Training again = resume("runs");
  ASSERT_EQ(again.wait().code, 0) << log();
  EXPECT_THAT(log(), testing::HasSubstr("continuing after step"));
  const auto records = observe::read_journal(folder_ / "runs" / "latest" / "journal.jsonl");
  std::vector<std::string> kinds;
  for (const auto& record : records) {
    if (record.type != "step" && record.type != "epoch" && record.type != "checkpoint") kinds.push_back(record.type);
  }
  EXPECT_THAT(kinds, testing::ElementsAre("run", "interrupt", "end", "resume", "test", "end"));
}

// In the middle of the second epoch, and of the steps whose statistics weigh the same.
TEST_F(Resume, RunningStatisticsGoOnWithTheSameBits) {
  const auto train = [&](const std::vector<std::string>& arguments) { return Training(folder_, arguments).wait().code; };
  const auto begun_in = [&](const char* runs) {
    return std::vector<std::string>{(folder_ / "job.toml").string(),
                                    "--runs",
                                    (folder_ / runs).string(),
                                    "--set",
                                    "model.name=resnet",
                                    "--set",
                                    "model.depth=8",
                                    "--set",
                                    "model.batch_norm_momentum=0.99",
                                    "--set",
                                    "data.name=synthetic_images",
                                    "--set",
                                    "data.samples=400"};
  };
  ASSERT_EQ(train(begun_in("undisturbed")), 0) << log();
  std::vector<std::string> interrupted = begun_in("interrupted");
  interrupted.insert(interrupted.end(), {"--until", "0.5"});
  ASSERT_EQ(train(interrupted), 0) << log();
  EXPECT_EQ(final_model("undisturbed") == final_model("interrupted"), false) << "it was not interrupted";
  ASSERT_EQ(train({"--resume", (folder_ / "interrupted" / "latest").string()}), 0) << log();
  EXPECT_EQ(final_model("undisturbed") == final_model("interrupted"), true) << log();
}

TEST_F(Resume, TwoTrainingsNeverWriteIntoOneRun) {
  const Training training = begin("runs");
  ASSERT_TRUE(wait_for_checkpoint("runs")) << log();
  EXPECT_EQ(resume("runs").wait().code, 3) << log();
  training.kill(SIGTERM);
  EXPECT_EQ(training.wait().code, 143) << log();
}

}  // namespace
}  // namespace trireme
