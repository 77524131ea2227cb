// SPDX-License-Identifier: Apache-2.0
// Tests of run directories: names, links, and one writer at a time.
#include "trireme/train/checkpoint/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::train {
namespace {

class RunDirectories : public testing::Test {
 protected:
  ~RunDirectories() override { std::filesystem::remove_all(base_); }

  RunDirectory create(int seconds = 0) const { return RunDirectory::create(base_, "mlp", kTime + std::chrono::seconds(seconds)); }
  RunDirectory create_configured() const {
    RunDirectory run = create();
    write_file_atomically(run.config(), "");
    return run;
  }

  // 2026-07-31 23:59:59.9 UTC
  static constexpr std::chrono::system_clock::time_point kTime{std::chrono::milliseconds(1'785'542'399'900)};
  const std::filesystem::path base_ =
      std::filesystem::temp_directory_path() /
      ("trireme_run_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(RunDirectories, AreNamedAfterJobAndTime) {
  const RunDirectory run = create();
  EXPECT_EQ(run.path(), base_ / "mlp-20260731-235959");
  EXPECT_EQ(create(1).path(), base_ / "mlp-20260801-000000");
  EXPECT_EQ(run.config(), run.path() / "config.toml");
  EXPECT_EQ(run.journal(), run.path() / "journal.jsonl");
  EXPECT_EQ(run.events(), run.path() / "tensorboard");
  EXPECT_EQ(run.checkpoints(), run.path() / "checkpoints");
  EXPECT_EQ(run.algorithms(), run.path() / "algorithms.json");
  EXPECT_EQ(std::filesystem::status(run.path()).permissions() & std::filesystem::perms::others_write, std::filesystem::perms::none);
}

TEST_F(RunDirectories, AreRemovedWithTheLinkThatPointsToThem) {
  const RunDirectory old = create(), run = create(1);
  write_file_atomically(run.checkpoints() / "step" / "model", "weights");
  RunDirectory::remove(old.path());
  EXPECT_TRUE(std::filesystem::exists(base_ / "latest"));
  RunDirectory::remove(run.path());
  EXPECT_TRUE(std::filesystem::is_empty(base_));
  RunDirectory live = create(2);
  live.lock();
  EXPECT_THAT(thrown_error([&] { RunDirectory::remove(live.path()); }), testing::StartsWith("failed_precondition"));
  EXPECT_TRUE(std::filesystem::exists(live.lock_file()));
}

TEST_F(RunDirectories, NeverShareAName) {
  EXPECT_EQ(create().path(), base_ / "mlp-20260731-235959");
  EXPECT_EQ(create().path(), base_ / "mlp-20260731-235959-2");
  EXPECT_EQ(create().path(), base_ / "mlp-20260731-235959-3");
}

TEST_F(RunDirectories, NeverShareANameAmongThreads) {
  std::vector<std::filesystem::path> paths(8);
  std::vector<std::thread> threads;
  for (auto& path : paths) threads.emplace_back([&] { path = create().path(); });
  for (auto& thread : threads) thread.join();
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(std::adjacent_find(paths.begin(), paths.end()), paths.end());
}

TEST_F(RunDirectories, LatestPointsToTheNewestAndCanBeMoved) {
  create();
  EXPECT_EQ(std::filesystem::read_symlink(base_ / "latest"), "mlp-20260731-235959");
  create(1);
  EXPECT_EQ(std::filesystem::read_symlink(base_ / "latest"), "mlp-20260801-000000");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(base_), std::filesystem::directory_iterator()), 3);
}

TEST_F(RunDirectories, ALatestThatIsNoLinkIsLeftAlone) {
  std::filesystem::create_directories(base_ / "latest" / "precious");
  EXPECT_THAT(thrown_error([&] { create(); }), testing::StartsWith("unavailable: cannot link " + (base_ / "latest").string() + " to "));
  EXPECT_TRUE(std::filesystem::exists(base_ / "latest" / "precious"));
  EXPECT_FALSE(std::filesystem::exists(base_ / ".latest-mlp-20260731-235959"));
}

TEST_F(RunDirectories, OpenFollowsTheLink) {
  const auto path = create_configured().path();
  EXPECT_EQ(RunDirectory::open(base_ / "latest").path(), std::filesystem::canonical(path));
  EXPECT_EQ(RunDirectory::open(path).path(), std::filesystem::canonical(path));
}

TEST_F(RunDirectories, OpenSaysWhatIsMissing) {
  const std::string absent = (base_ / "absent").string();
  EXPECT_EQ(thrown_error([&] { RunDirectory::open(absent); }), "not_found: there is no run " + absent + ": No such file or directory");
  const std::string empty = create().path().string();
  EXPECT_EQ(thrown_error([&] { RunDirectory::open(empty); }), "not_found: " + empty + " is no run: it has no config.toml");
  write_file_atomically(base_ / "file", "");
  EXPECT_EQ(thrown_error([&] { RunDirectory::open(base_ / "file"); }),
            "not_found: " + (base_ / "file").string() + " is no run: it is no directory");
}

TEST_F(RunDirectories, ASecondWriterIsRefusedWithTheFirstsProcess) {
  RunDirectory first = create_configured();
  first.lock();
  RunDirectory moved = std::move(first);
  RunDirectory second = RunDirectory::open(moved.path());
  EXPECT_EQ(thrown_error([&] { second.lock(); }),
            fmt::format("failed_precondition: {} is being trained by process {}; wait for it, or stop it first", second.path().string(),
                        ::getpid()));
  { const RunDirectory ended = std::move(moved); }
  EXPECT_EQ(thrown_error([&] { second.lock(); }), "no error");
}

TEST_F(RunDirectories, TheLockOfADeadProcessIsFree) {
  RunDirectory run = create_configured();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    RunDirectory held = RunDirectory::open(run.path());
    held.lock();
    if (::write(pipe[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char locked = 0;
  ASSERT_EQ(::read(pipe[0], &locked, 1), 1);
  EXPECT_THAT(thrown_error([&] { run.lock(); }), testing::HasSubstr(fmt::format("is being trained by process {};", child)));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(thrown_error([&] { run.lock(); }), "no error");
  EXPECT_EQ(read_file(run.lock_file()), fmt::format("{}\n", ::getpid()));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace trireme::train
