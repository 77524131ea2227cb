// SPDX-License-Identifier: Apache-2.0
// Reads the files of both generations of control groups.
#include "trireme/cluster/process/memory_group.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

#include "trireme/base/table.h"
#include "trireme/base/vanishing_file.h"

namespace trireme::cluster {
namespace {

struct GroupFiles {
  std::string_view mount;  // where every system has it
  std::string_view line;   // of /proc/self/cgroup: what stands before the group
  const char* limit;
  const char* peak;
  const char* events;  // has a line "oom_kill N"
};
constexpr std::array<GroupFiles, 2> kVersions{
    {{"/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"},
     {"/sys/fs/cgroup", "0::", "memory.max", "memory.peak", "memory.events"}}};
constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;  // version 1 writes "no limit" as a number

std::optional<std::int64_t> number_in(const std::optional<std::string>& text, std::string_view key = "") {
  const std::size_t at = text ? text->find(key) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  std::int64_t value = 0;
  const char* const begin = text->data() + at + key.size();
  if (std::from_chars(begin, text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::string> own_group(const std::string& cgroups, std::string_view mark) {
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find(mark); at != std::string::npos) return line.substr(at + mark.size());
  return std::nullopt;
}

std::optional<MemoryGroup> group_at(const std::string& folder, const GroupFiles& files, const ReadFile& read) {
  const std::string limit_file = fmt::format("{}/{}", folder, files.limit);
  const auto limit = number_in(read(limit_file));
  if (!limit || *limit >= kUnlimited) return std::nullopt;
  return MemoryGroup{.limit_file = limit_file,
                     .limit = *limit,
                     .peak = number_in(read(fmt::format("{}/{}", folder, files.peak))).value_or(0),
                     .kills = number_in(read(fmt::format("{}/{}", folder, files.events)), "oom_kill ").value_or(0)};
}

}  // namespace

std::optional<MemoryGroup> memory_group(const ReadFile& read) {
  const std::string cgroups = read("/proc/self/cgroup").value_or("");
  for (const GroupFiles& files : kVersions) {
    auto group = own_group(cgroups, files.line);
    if (!group) continue;
    // In a container the mount may show only the container's own group: then the last look, at the mount itself, finds it.
    for (;; group->resize(group->empty() ? 0 : group->rfind('/'))) {
      if (*group == "/") group->clear();
      if (auto found = group_at(fmt::format("{}{}", files.mount, *group), files, read)) return found;
      if (group->empty() || group->find('/') == std::string::npos) break;
    }
  }
  return std::nullopt;
}

std::optional<MemoryGroup> memory_group() {
  return memory_group([](const std::string& path) { return read_vanishing_file(path); });
}

std::string out_of_memory_text(const MemoryGroup& group) {
  const std::string peak = group.peak == 0 ? "" : fmt::format(", the peak was {}", human_bytes(static_cast<double>(group.peak)));
  return fmt::format("out of memory: the limit of all processes there is {} ({}){}", human_bytes(static_cast<double>(group.limit)),
                     group.limit_file, peak);
}

}  // namespace trireme::cluster
