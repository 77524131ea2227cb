// SPDX-License-Identifier: Apache-2.0
// A cache asks the control groups as well as the machine, and leaves its neighbours their part; by made-up files, and in a real group.
#include "trireme/data/pipeline/memory_share.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kMebi = 1 << 20;

using Files = std::map<std::string, std::string>;

MemoryRoom room_in(const Files& files) {
  return memory_room([&files](const std::string& path) {
    const auto file = files.find(path);
    return file == files.end() ? std::nullopt : std::optional(file->second);
  });
}

Files machine() { return {{"/proc/meminfo", "MemTotal:       24000000 kB\nMemFree:          100000 kB\nMemAvailable:   16777216 kB\n"}}; }

void add_group(Files& files, const std::string& folder, std::size_t limit, std::size_t used, std::size_t inactive = 0) {
  files[folder + "/memory.max"] = fmt::format("{}\n", limit);
  files[folder + "/memory.current"] = fmt::format("{}\n", used);
  files[folder + "/memory.stat"] = fmt::format("anon 5\ninactive_anon 7\ninactive_file {}\n", inactive);
}

TEST(MemoryRoom, IsWhatTheMachineHasWhereNothingLimitsIt) {
  EXPECT_EQ(room_in(machine()).bytes, 16384 * kMebi);
  EXPECT_EQ(room_in(machine()).limit, "this machine has");
  Files files = machine();
  files["/proc/self/cgroup"] = "0::/user.slice\n";
  files["/proc/self/mountinfo"] = "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
  files["/sys/fs/cgroup/user.slice/memory.max"] = "max\n";
  files["/sys/fs/cgroup/user.slice/memory.current"] = "12345\n";
  EXPECT_EQ(room_in(files).bytes, 16384 * kMebi);
}

TEST(MemoryRoom, TheTightestGroupOnTheWayUpCounts) {
  Files files = machine();
  files["/proc/self/cgroup"] = "0::/slurm/job_7/step_0\n";
  files["/proc/self/mountinfo"] =
      "25 30 0:23 / /sys rw - sysfs sysfs rw\n30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  add_group(files, "/sys/fs/cgroup/slurm/job_7/step_0", 9000 * kMebi, 100 * kMebi);
  add_group(files, "/sys/fs/cgroup/slurm/job_7", 4096 * kMebi, 1096 * kMebi, 96 * kMebi);  // pages of files are given back
  add_group(files, "/sys/fs/cgroup/slurm", 8000 * kMebi, 0);
  EXPECT_EQ(room_in(files).bytes, 3096 * kMebi);
  EXPECT_THAT(room_in(files).limit, HasSubstr("/sys/fs/cgroup/slurm/job_7/memory.max"));
  add_group(files, "/sys/fs/cgroup/slurm", 5000 * kMebi, 5001 * kMebi);
  EXPECT_EQ(room_in(files).bytes, 0) << "a group may use more than it was later given";
}

TEST(MemoryRoom, TheFirstGenerationOfGroupsIsReadToo) {
  Files files = machine();
  files["/proc/self/cgroup"] = "9:name=systemd:/\n4:hugetlb,memory:/box/inner\n3:cpuset:/elsewhere\n0::/\n";
  files["/proc/self/mountinfo"] =
      "31 30 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  files["/sys/fs/cgroup/memory/box/memory.limit_in_bytes"] = "1073741824\n";
  files["/sys/fs/cgroup/memory/box/memory.usage_in_bytes"] = "73741824\n";
  files["/sys/fs/cgroup/memory/box/memory.stat"] = "inactive_file 5\ntotal_inactive_file 3741824\n";
  files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n";
  files["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = "1\n";
  EXPECT_EQ(room_in(files).bytes, 1'003'741'824);
}

TEST(MemoryRoom, AContainerSeesItsOwnGroupAsTheTop) {
  Files files = machine();
  files["/proc/self/cgroup"] = "0::/docker/abc/node\n";  // no namespace of groups: the path is the host's
  files["/proc/self/mountinfo"] = "30 20 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
  add_group(files, "/sys/fs/cgroup", 512 * kMebi, 12 * kMebi);
  EXPECT_EQ(room_in(files).bytes, 500 * kMebi);
  files["/proc/self/cgroup"] = "0::/docker/abcdef\n";  // not below what is mounted
  EXPECT_EQ(room_in(files).bytes, 500 * kMebi);
  files["/proc/self/cgroup"] = "0::/\n";
  EXPECT_EQ(room_in(files).bytes, 500 * kMebi);
}

TEST(MemoryRoom, UnreadableFilesLimitNothing) {
  EXPECT_GT(room_in({}).bytes, std::size_t{1} << 60U);
  Files files = machine();
  files["/proc/self/cgroup"] = "\n:\n4:memory\n0::\n";
  files["/proc/self/mountinfo"] = "- cgroup2\n1 2 3 - -\n30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(room_in(files).bytes, 16384 * kMebi);
}

TEST(MemoryShare, NodesOfOneMachineDivideTheRoom) {
  EXPECT_EQ(share_of(1000, 0, 1), 900);
  EXPECT_EQ(share_of(1000, 0, 4), 225);
  EXPECT_EQ(share_of(1000, 0, 0), 900);
}

TEST(MemoryShare, ANodeStartedAgainHasTheSamePartAsBefore) {
  EXPECT_EQ(share_of(250, 750, 4), 225) << "the other three hold their parts";
  EXPECT_EQ(share_of(100, 900, 4), 90) << "but never more than there is now";
  EXPECT_EQ(share_of(~std::size_t{0}, 900, 1), ~std::size_t{0} - ~std::size_t{0} / 10);
}

TEST(MemoryBudget, CachesOfOneProcessTakeFromTheSame) {
  MemoryBudget budget({.bytes = 1000, .limit = "this machine has"});
  budget.take(600, 6);
  EXPECT_THAT(thrown_error([&] { budget.take(600, 6); }),
              AllOf(HasSubstr("resource_exhausted: caching 6 samples takes 600 bytes"), HasSubstr("this machine has 400 for it"),
                    HasSubstr("data.pipeline.cache = \"disk\"")));
  budget.take(400, 4);
}

// A real memory group of this machine below our own, with a limit; gone with the object. Not good: `why` says so.
class MemoryGroup {
 public:
  explicit MemoryGroup(std::size_t limit) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      if (const auto at = line.find(":memory:"); at != std::string::npos) folder_ = "/sys/fs/cgroup/memory" + line.substr(at + 8);
      if (line.starts_with("0::") && folder_.empty()) folder_ = "/sys/fs/cgroup" + line.substr(3), limit_file_ = "memory.max";
    }
    folder_ /= fmt::format("trireme-test-{}", ::getpid());
    std::error_code fault;
    std::filesystem::create_directory(folder_, fault);
    std::ofstream(folder_ / limit_file_) << limit << std::flush;
    std::size_t told = 0;
    std::ifstream(folder_ / limit_file_) >> told;
    if (fault || told != limit) why = fmt::format("{}: this user can't make memory groups here", folder_.string());
  }
  ~MemoryGroup() {
    std::error_code ignored;
    std::filesystem::remove(folder_, ignored);
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  void enter() const { std::ofstream(folder_ / "cgroup.procs") << ::getpid() << std::flush; }

  std::string why;

 private:
  std::filesystem::path folder_;
  std::string limit_file_ = "memory.limit_in_bytes";
};

TEST(MemoryShare, ARealGroupLimitsThisProcess) {
  constexpr std::size_t kLimit = 96 * kMebi;
  const MemoryGroup group(kLimit);
  if (!group.why.empty()) GTEST_SKIP() << group.why;
  const pid_t child = ::fork();
  if (child == 0) {
    group.enter();
    const std::size_t alone = memory_share(1).bytes;
    const std::size_t shared = memory_share(4).bytes;
    ::_exit(alone > kLimit || alone < kLimit / 2 ? 1 : shared > alone / 2 ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: alone, 2: one of four";
}

}  // namespace
}  // namespace trireme::data
