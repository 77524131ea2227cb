// SPDX-License-Identifier: Apache-2.0
// Tests of reading control groups, from files made by hand.
#include "trireme/cluster/process/memory_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace trireme::cluster {
namespace {

using Files = std::map<std::string, std::string>;

std::optional<MemoryGroup> group_of(const Files& files) {
  return memory_group([&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(MemoryGroup, OfVersion1IsTheNearestWithALimit) {
  const auto group = group_of({{"/proc/self/cgroup", "5:cpu:/x\n4:memory:/job/step\n0::/\n"},
                               {"/sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n"},
                               {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "629145600\n"},
                               {"/sys/fs/cgroup/memory/job/memory.max_usage_in_bytes", "629140000\n"},
                               {"/sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"}});
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(group->limit, 629145600);
  EXPECT_EQ(group->kills, 2);
  EXPECT_EQ(out_of_memory_text(*group),
            "out of memory: the limit of all processes there is 600.0 MiB (/sys/fs/cgroup/memory/job/memory.limit_in_bytes), the peak was "
            "600.0 MiB");
}

TEST(MemoryGroup, OfAContainerWithVersion2IsTheMountItself) {
  const auto group = group_of({{"/proc/self/cgroup", "0::/docker/abc\n"},
                               {"/sys/fs/cgroup/memory.max", "1073741824\n"},
                               {"/sys/fs/cgroup/memory.events", "low 0\noom 1\noom_kill 1\n"}});
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(group->limit, 1 << 30);
  EXPECT_EQ(group->kills, 1);
  EXPECT_THAT(out_of_memory_text(*group), testing::EndsWith("(/sys/fs/cgroup/memory.max)"));
}

TEST(MemoryGroup, IsNoneWithoutALimit) {
  EXPECT_FALSE(group_of({}).has_value());
  EXPECT_FALSE(group_of({{"/proc/self/cgroup", "0::/a\n"}, {"/sys/fs/cgroup/a/memory.max", "max\n"}}).has_value());
}

}  // namespace
}  // namespace trireme::cluster
