// SPDX-License-Identifier: Apache-2.0
// Trainings under a real mpirun: the model of the same nodes without MPI, exit codes, a killed rank, --resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "tests/cluster/small_job.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/process.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/tensor/safetensors.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> mpirun(int ranks, const std::vector<std::string>& command) {
  std::vector<std::string> words{"mpirun",
                                 "--allow-run-as-root",
                                 "--oversubscribe",
                                 "--bind-to",
                                 "none",
                                 "--mca",
                                 "btl",
                                 "self,vader",
                                 "--mca",
                                 "btl_vader_single_copy_mechanism",
                                 "none",
                                 "--mca",
                                 "oob_tcp_if_include",
                                 "lo",
                                 "-n",
                                 std::to_string(ranks)};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// A command with its lines.
class Command {
 public:
  explicit Command(std::vector<std::string> words)
      : process_({.argv = std::move(words),
                  .on_line =
                      [this](Stream, std::string_view line) {
                        const std::lock_guard lock(mutex_);
                        text_ += std::string(line) + "\n";
                      },
                  .on_exit = {}}) {}
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  int wait() {
    const auto status = process_.wait_for(std::chrono::minutes(2));
    if (!status) return -1000;
    return status->signal != 0 ? -status->signal : status->code;
  }
  void signal(int number) { ::kill(process_.pid(), number); }

 private:
  mutable std::mutex mutex_;
  std::string text_;
  Process process_;
};

class Mpi : public testing::Test {
 protected:
  Mpi() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    write_file_atomically(folder_ / "job.toml", small_job({.epochs = 3, .optimizer = "sgd"}));
  }
  ~Mpi() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> train(const std::string& runs, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{TRIREME_BINARY, "train", (folder_ / "job.toml").string(), "--runs", (folder_ / runs).string(),
                                   "--threads",    "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::filesystem::path latest(const std::string& runs) const { return folder_ / runs / "latest"; }
  std::filesystem::path newest(const std::string& runs) const {
    std::filesystem::path found;
    for (const auto& entry : std::filesystem::directory_iterator(latest(runs) / "checkpoints")) found = std::max(found, entry.path());
    return found;
  }
  std::string final_model(const std::string& runs) const { return read_file(newest(runs) / "model.safetensors"); }
  bool is_under_way(const std::string& runs) const {
    for (int i = 0; i < 6000; ++i) {
      if (std::filesystem::exists(latest(runs) / "journal.jsonl") &&
          std::ranges::count(observe::read_journal(latest(runs) / "journal.jsonl"), "step", &observe::Record::type) > 20)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // Processes of the program that belong to this test and have `word` among their arguments.
  std::vector<pid_t> processes(const std::string& word = "") const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      try {
        const std::string words = read_file(entry.path() / "cmdline");
        if (words.starts_with(TRIREME_BINARY) && words.find(folder_.string()) != std::string::npos && words.find(word) != std::string::npos)
          found.push_back(std::stoi(name));
      } catch (const Error&) {
        continue;  // gone meanwhile
      }
    }
    return found;
  }
  bool all_gone() const {
    for (int i = 0; i < 1000 && !processes().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return processes().empty();
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("trireme_mpi_" + std::to_string(::getpid()));
};

double largest_difference(const std::filesystem::path& a, const std::filesystem::path& b) {
  const Safetensors first = Safetensors::load(a / "model.safetensors");
  const Safetensors second = Safetensors::load(b / "model.safetensors");
  double largest = 0;
  for (const auto& tensor : first.tensors()) {
    std::vector<float> x((tensor.end - tensor.begin) / sizeof(float));
    std::vector<float> y(x.size());
    first.copy(tensor, x);
    second.copy(*second.find(tensor.name), y);
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, static_cast<double>(std::abs(x[i] - y[i])));
  }
  return largest;
}

class MpiCollectives : public testing::TestWithParam<int> {};

TEST_P(MpiCollectives, AreRightAndHaveTheSameBitsEverywhere) {
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
  Command command(mpirun(GetParam(), {MPI_COLLECTIVES, MPI_LIBRARY}));
  EXPECT_EQ(command.wait(), 0) << command.text();
}
INSTANTIATE_TEST_SUITE_P(Ranks, MpiCollectives, testing::Values(2, 3, 4, 5));

TEST(MpiCollectives, AWaitEndsByItself) {
  Command command(mpirun(2, {MPI_COLLECTIVES, MPI_LIBRARY, "timeout"}));
  command.wait();  // mpirun blames the process that leaves without MPI_Finalize
  EXPECT_THAT(command.text(), HasSubstr("gave up in time"));
}

TEST(MpiCollectives, AMeetingThatOneIsLateForEndsByItself) {
  Command command(mpirun(2, {MPI_COLLECTIVES, MPI_LIBRARY, "late"}));
  command.wait();
  EXPECT_THAT(command.text(), HasSubstr("gave up in time"));
}

TEST_F(Mpi, ThreeRanksTrainAsThreeNodes) {
  Command nodes(train("nodes", {"-n", "3"}));
  ASSERT_EQ(nodes.wait(), 0) << nodes.text();
  Command ranks(mpirun(3, train("ranks", {"--launcher", "mpi"})));
  ASSERT_EQ(ranks.wait(), 0) << ranks.text();
  EXPECT_THAT(ranks.text(), AllOf(HasSubstr("3 workers"), HasSubstr("trained 3 epochs")));
  EXPECT_LT(largest_difference(newest("nodes"), newest("ranks")), 1e-5);
  Command again(mpirun(3, train("again")));
  ASSERT_EQ(again.wait(), 0) << again.text();
  EXPECT_THAT(again.text(), HasSubstr("launcher mpi: these are processes of mpirun"));
  EXPECT_TRUE(final_model("ranks") == final_model("again")) << ranks.text() << again.text();
  EXPECT_TRUE(all_gone());
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache/trireme")) EXPECT_NE(file.path().extension(), ".secret");
}

TEST_F(Mpi, AKilledRankEndsItAllAndTheRunGoesOnWithAnotherMpirun) {
  Command whole(mpirun(3, train("whole", {"--set", "train.epochs=10"})));
  ASSERT_EQ(whole.wait(), 0) << whole.text();
  Command broken(mpirun(3, train("broken", {"--set", "train.epochs=10"})));
  ASSERT_TRUE(is_under_way("broken")) << broken.text();
  // Neither the coordinator, which came first, nor its node.
  const auto ranks = processes("train");
  ASSERT_EQ(ranks.size(), 3U);
  ::kill(ranks.back(), SIGKILL);
  EXPECT_NE(broken.wait(), 0);
  EXPECT_TRUE(all_gone()) << broken.text();
  Command rest(mpirun(3, {TRIREME_BINARY, "train", "--resume", latest("broken").string(), "--threads", "1"}));
  ASSERT_EQ(rest.wait(), 0) << rest.text();
  EXPECT_THAT(rest.text(), AllOf(HasSubstr("continuing after step"), HasSubstr("trained 10 epochs")));
  EXPECT_TRUE(final_model("whole") == final_model("broken"));
}

TEST_F(Mpi, TheExitCodeIsTheCoordinators) {
  Command wrong(mpirun(2, train("runs", {"--set", "train.epochz=3"})));
  EXPECT_EQ(wrong.wait(), 2) << wrong.text();
  EXPECT_THAT(wrong.text(), HasSubstr("epochs"));
  Command wire(mpirun(2, train("runs", {"--set", "strategy.wire='bf16'"})));
  EXPECT_EQ(wire.wait(), 1) << wire.text();
  EXPECT_THAT(wire.text(), HasSubstr("under mpirun gradients are sent as f32"));
  EXPECT_TRUE(all_gone());
}

TEST_F(Mpi, SecretsAreNowhereToBeRead) {
  Command training(mpirun(2, train("runs", {"--set", "train.epochs=2000"})));
  ASSERT_TRUE(is_under_way("runs")) << training.text();
  const auto all = processes();
  EXPECT_EQ(all.size(), 3U) << "two ranks, and the first one's node";
  for (const pid_t process : all)
    for (const char* name : {"cmdline", "environ"})
      EXPECT_THAT(read_file(std::filesystem::path("/proc") / std::to_string(process) / name), Not(HasSubstr("PRIVATE")));
  training.signal(SIGTERM);
  EXPECT_NE(training.wait(), 0);
  EXPECT_TRUE(all_gone());
}

// Rank 1 sees another disk: neither the file nor (in this test) munge can bring it the secret.
TEST_F(Mpi, ASecretThatMustGoByMpiIsReported) {
  const std::filesystem::path cache = folder_ / "cache";
  std::filesystem::create_directories(cache);
  std::vector<std::string> words = mpirun(1, train("runs"));
  words.insert(words.end(), {":", "-n", "1", "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                             "mount -t tmpfs none \"$0\" && exec \"$@\"", cache.string()});
  for (const std::string& word : train("runs")) words.push_back(word);
  Command training(words);
  ASSERT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("warning: 1 of 2 processes have neither munge nor the folder " + cache.string()),
                                     HasSubstr("trained 3 epochs")));
  Command shared(mpirun(2, train("shared")));
  ASSERT_EQ(shared.wait(), 0) << shared.text();
  EXPECT_THAT(shared.text(), Not(HasSubstr("warning: ")));
}

}  // namespace
}  // namespace trireme::tests
