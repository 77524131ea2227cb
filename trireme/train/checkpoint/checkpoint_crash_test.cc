// SPDX-License-Identifier: Apache-2.0
// Tests of checkpoints whose writer dies or runs out of disk: what loads afterwards is always a complete one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "trireme/base/files.h"
#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/testing/sample_checkpoint.h"

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A child process that runs `action` and ends with what it returns.
template <class Action>
pid_t start_child(const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(action());
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

class CheckpointCrash : public CheckpointTest {
 protected:
  // Runs `action`, a failing save, in a child and returns what the error says.
  template <class Action>
  std::string fault_in_child(const Action& action) const {
    const auto told = std::filesystem::path(folder_.string() + ".told");
    const int status = wait_for(start_child([&] {
      const std::string fault = thrown_error(action);
      const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &unlimited);
      OutputFile(told, OutputFile::Mode::replace).write(fault);
      return 0;
    }));
    EXPECT_EQ(status, 0);
    std::string fault = read_file(told);
    std::filesystem::remove(told);
    return fault;
  }

  std::int64_t loaded_step() const {
    const auto loaded = store_.load_newest();
    EXPECT_TRUE(loaded.has_value());
    EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
    expect_is_sample(loaded->checkpoint, graph_);
    return loaded->checkpoint.cursor.step;
  }
};

TEST_F(CheckpointCrash, KilledAtAnyMomentACompleteOneLoads) {
  RandomStream random(::getpid());
  save(1);
  std::int64_t committed = 1;
  for (int trial = 0; trial < 25; ++trial) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = start_child([&] {
      for (std::int64_t step = committed + 1; step < committed + 10000; ++step) {
        save(step);
        if (::write(pipe[1], &step, sizeof step) != sizeof step) return 1;
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(40000)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_TRUE(WIFSIGNALED(wait_for(child)));
    ::close(pipe[1]);
    for (std::int64_t step = 0; ::read(pipe[0], &step, sizeof step) == sizeof step;) committed = step;
    ::close(pipe[0]);

    const std::int64_t loaded = loaded_step();
    EXPECT_GE(loaded, committed) << "a committed checkpoint is never lost";
    EXPECT_LE(loaded, committed + 1);
    committed = loaded;
  }
  save(committed + 1);
  EXPECT_EQ(entries().size(), 2U) << "leftovers of the dead are gone";
}

// Stops the child before system call `number` of a save and kills it there; false if it had fewer.
class TracedSave {
 public:
  explicit TracedSave(pid_t child) : child_(child) {
    wait_for(child_);  // its first stop
    ::ptrace(PTRACE_SETOPTIONS, child_, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
  }

  // The next system call before it is made, or -1 at the end.
  long next_call() const {
    for (;;) {
      ::ptrace(PTRACE_SYSCALL, child_, nullptr, nullptr);
      if (!WIFSTOPPED(wait_for(child_))) return -1;
      __ptrace_syscall_info info{};
      ::ptrace(PTRACE_GET_SYSCALL_INFO, child_, sizeof info, &info);
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY) return static_cast<long>(info.entry.nr);
    }
  }
  void kill() const {
    ::kill(child_, SIGKILL);
    wait_for(child_);
  }

 private:
  pid_t child_;
};

class TracedCheckpoint : public CheckpointCrash {
 protected:
  TracedSave start(std::int64_t step) const {
    return TracedSave(start_child([&] {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 1;
      ::raise(SIGSTOP);
      save(step);
      return 0;
    }));
  }
};

TEST_F(TracedCheckpoint, KilledBeforeEachSystemCallTheOldOrTheNewOneLoads) {
  int old_loaded = 0, new_loaded = 0;
  bool ended = false;
  for (int kill_at = 1; !ended; ++kill_at) {
    std::filesystem::remove_all(folder_);
    for (const int step : {1, 2}) save(step);
    TracedSave traced = start(3);
    for (int call = 0; call < kill_at && !ended; ++call) ended = traced.next_call() < 0;
    if (!ended) traced.kill();
    const std::int64_t loaded = loaded_step();
    ASSERT_TRUE(loaded == 2 || loaded == 3) << loaded;
    ASSERT_FALSE(loaded == 2 && new_loaded > 0) << "once it is there it stays";
    ++(loaded == 2 ? old_loaded : new_loaded);
  }
  EXPECT_GT(old_loaded, 20);
  EXPECT_GT(new_loaded, 5);
}

TEST_F(TracedCheckpoint, EverythingIsSyncedBeforeTheRenameAndTheRenameAfterIt) {
  save(1);
  TracedSave traced = start(2);
  std::vector<std::string> order;
  for (long call = traced.next_call(); call >= 0; call = traced.next_call()) {
    if (call == SYS_fsync) order.emplace_back("sync");
    if (call == SYS_rename || call == SYS_renameat || call == SYS_renameat2) order.emplace_back("rename");
  }
  // Five files and their directory; the exchange finds nothing to change places with; the store.
  EXPECT_THAT(order, ElementsAre("sync", "sync", "sync", "sync", "sync", "sync", "rename", "rename", "sync"));
}

// Linux counts a limit on the size of a file like a full disk, but for the name of the error.
TEST_F(CheckpointCrash, ALimitOfTheFileSizeIsReportedAndTheLastGoodOneLoads) {
  save(1);
  const std::string fault = fault_in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    save(2);
  });
  EXPECT_THAT(fault, StartsWith("resource_exhausted: cannot write " + folder_.string()));
  EXPECT_THAT(fault, HasSubstr("model.safetensors: File too large"));
  EXPECT_THAT(entries(), ElementsAre("step-00000001"));
  EXPECT_EQ(loaded_step(), 1);
}

// In a mount namespace of its own, so that nothing is left behind. Needs the right to mount.
TEST_F(CheckpointCrash, AFullDiskIsReportedAndTheLastGoodOneLoads) {
  const std::string fault = fault_in_child([&] {
    std::filesystem::create_directories(folder_);
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder_.c_str(), "tmpfs", 0, "size=128k") != 0)
      throw Error{unimplemented, "no right to mount"};
    save(1);
    std::string found;
    for (std::int64_t step = 2; step < 100 && found.empty(); ++step) {
      // Other files fill the disk more and more.
      OutputFile(folder_ / fmt::format("filler-{}", step), OutputFile::Mode::create).write(std::string(4096, 'x'));
      const std::string told = thrown_error([&] { save(step); });
      if (told != "no error") found = told;
      if (loaded_step() != (found.empty() ? step : step - 1)) found = "not what was saved last";
    }
    for (const auto& name : entries()) {
      if (name.starts_with(".tmp")) found = name + " was left";
      if (name.starts_with("filler")) std::filesystem::remove(folder_ / name);
    }
    save(1000);  // works again once there is room
    if (loaded_step() != 1000) found = "no checkpoint after space was freed";
    throw Error{unknown, "{}", found};
  });
  if (fault == "unimplemented: no right to mount") GTEST_SKIP() << "mounting a small disk needs root; the limit of the file size is tested";
  EXPECT_THAT(fault, StartsWith("unknown: resource_exhausted: cannot "));
  EXPECT_THAT(fault, HasSubstr(folder_.string()));
  EXPECT_THAT(fault, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace trireme::train
