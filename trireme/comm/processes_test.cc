// SPDX-License-Identifier: Apache-2.0
// Members as processes of their own, one of which is killed or stopped.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/comm/communicator.h"
#include "trireme/comm/folder_store.h"

namespace trireme::comm {
namespace {

constexpr Seconds kTimeout{10};
constexpr int kSize = 3;
constexpr int kVictim = 1;

Group group_of(int rank, int size, std::uint64_t generation) {
  return {.rank = rank, .size = size, .generation = generation, .address = "127.0.0.1", .key = "k"};
}

// Sums until that fails; says what with and when, then goes on in the next generation without the victim.
void survive(FolderStore& store, int rank, Seconds patience) {
  auto communicator = Communicator::connect(store, group_of(rank, kSize, 1), kTimeout);
  std::vector<float> values(1 << 16);
  ErrorCode code = ok;
  for (int step = 0; code == ok; ++step) {
    if (step == 10) store.set(fmt::format("running/{}", rank), "");
    try {
      communicator.all_reduce(values, {}, patience);
    } catch (const Error& error) {
      code = error.code();
    }
  }
  store.set(fmt::format("noticed/{}", rank), fmt::format("{} {}", name_of(code), SteadyClock{}.now().count()));
  auto next = Communicator::connect(store, group_of(rank > kVictim ? rank - 1 : rank, kSize - 1, 2), kTimeout);
  std::vector<float> ones{1};
  next.all_reduce(ones, {}, kTimeout);
  store.set(fmt::format("went_on/{}", rank), fmt::format("{}", ones[0]));
}

class Processes : public testing::Test {
 protected:
  Processes() : folder_(std::filesystem::temp_directory_path() / fmt::format("trireme-comm-{}", ::getpid())), store_(make_folder()) {}
  ~Processes() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  void start(Seconds patience) {
    for (int rank = 0; rank < kSize; ++rank) {
      const pid_t child = ::fork();
      if (child == 0) {
        survive(store_, rank, patience);
        std::_Exit(0);
      }
      children_.push_back(child);
    }
    for (int rank = 0; rank < kSize; ++rank) store_.get(fmt::format("running/{}", rank), kTimeout);
  }

  // Signals the victim; what the others say, and how long the slower of them took to say it.
  std::pair<std::vector<std::string>, double> signal_victim(int signal) {
    const double signalled = SteadyClock{}.now().count();
    ::kill(children_[kVictim], signal);
    std::vector<std::string> said;
    double slowest = 0;
    for (const int rank : {0, 2}) {
      const std::string noticed = store_.get(fmt::format("noticed/{}", rank), kTimeout);
      said.push_back(noticed.substr(0, noticed.find(' ')));
      slowest = std::max(slowest, std::stod(noticed.substr(noticed.find(' '))) - signalled);
      EXPECT_EQ(store_.get(fmt::format("went_on/{}", rank), kTimeout), "2");
    }
    return {said, slowest};
  }

 private:
  std::filesystem::path make_folder() {
    std::filesystem::create_directories(folder_);
    return folder_;
  }

  std::filesystem::path folder_;
  FolderStore store_;
  std::vector<pid_t> children_;
};

TEST_F(Processes, AKilledOneIsNoticedAtOnceAndTheOthersGoOn) {
  start(kTimeout);
  const auto [said, seconds] = signal_victim(SIGKILL);
  EXPECT_EQ(said, (std::vector<std::string>{"unavailable", "unavailable"}));
  EXPECT_LT(seconds, 1);
}

// One waits for the stopped member until its patience ends; the other learns of it then, or has waited as long itself.
TEST_F(Processes, AStoppedOneIsGivenUpAfterTheTimeout) {
  start(Seconds{0.5});
  const auto [said, seconds] = signal_victim(SIGSTOP);
  EXPECT_TRUE(said[0] == "deadline_exceeded" || said[1] == "deadline_exceeded") << said[0] << ", " << said[1];
  EXPECT_GE(seconds, 0.4);
  EXPECT_LT(seconds, 2);
}

}  // namespace
}  // namespace trireme::comm
